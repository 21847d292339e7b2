package stream

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
)

// unpack makes the body of res what it was before something on the way to us
// compressed it, as some gateways do though nobody asked. It reports whether
// that can be done.
func unpack(res *http.Response) bool {
	switch strings.ToLower(strings.TrimSpace(res.Header.Get("Content-Encoding"))) {
	case "", "identity":
		return true
	case "gzip", "x-gzip":
		res.Body = &unzipped{Closer: res.Body, packed: res.Body}
		return true
	}
	return false
}

// unzipped is a body without its compression. Nothing is read before it is asked
// for, so that the first byte is waited for like that of every other.
type unzipped struct {
	io.Closer
	packed io.Reader
	plain  *gzip.Reader // nil before the first read
}

func (u *unzipped) Read(p []byte) (int, error) {
	if u.plain == nil {
		z, err := gzip.NewReader(u.packed)
		if err != nil {
			return 0, err
		}
		u.plain = z
	}
	return u.plain.Read(p)
}
