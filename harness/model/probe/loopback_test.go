package probe

import "testing"

func TestOnlyLoopback(t *testing.T) {
	for address, want := range map[string]bool{
		"127.0.0.1:11434": true, "127.8.8.8:1": true, "[::1]:1234": true,
		"192.0.2.1:11434": false, "0.0.0.0:1": false, "[2001:db8::1]:80": false, "localhost:1": false, "nonsense": false,
	} {
		if err := onlyLoopback("tcp", address, nil); (err == nil) != want {
			t.Errorf("%s: error = %v, want the connection to be made: %v", address, err, want)
		}
	}
}

// A proxy of the environment is never used for a loopback address, so that a
// server in its place would hear nothing in any case.
func TestNoProxy(t *testing.T) {
	if newTransport().Proxy != nil {
		t.Error("servers are reached through a proxy")
	}
}
