package stdio_test

import (
	"runtime"
	"testing"

	"github.com/lorimer-dev/lorimer/mcpbridge/transport/stdio"
)

// BenchmarkCall is a round trip to a program that answers at once.
func BenchmarkCall(b *testing.B) {
	c := dial(b, stdio.Options{})
	if err := c.begin(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.ask("ping", `{}`); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkNotifications is a call during which 100,000 notifications come.
func BenchmarkNotifications(b *testing.B) {
	heard := 0
	c := dialWith(b, listener{notify: func(string) { heard++ }}, stdio.Options{}, "-mode", "notif-flood")
	if err := c.begin(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.call("add", `{"a":1,"b":2}`); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkBigResult is a call whose result is 20 MB long.
func BenchmarkBigResult(b *testing.B) {
	c := dial(b, stdio.Options{}, "-mode", "big")
	if err := c.begin(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.ask("tools/call", `{"name":"add","arguments":{}}`); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkIdle is what 20 transports cost that do nothing.
func BenchmarkIdle(b *testing.B) {
	const idle = 20
	for b.Loop() {
		before := inUse()
		var all []*client
		for range idle {
			c := dial(b, stdio.Options{})
			if err := c.begin(); err != nil {
				b.Fatal(err)
			}
			all = append(all, c)
		}
		b.ReportMetric(float64(inUse()-before)/idle/1024, "KiB/transport")
		for _, c := range all {
			if err := c.Close(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
	}
}

// inUse returns how many bytes the heap and the stacks take.
func inUse() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}
