package acp

import (
	"context"
	_ "embed"
	"encoding/json"
	"fmt"

	acpsdk "github.com/coder/acp-go-sdk"

	"github.com/lorimer-dev/lorimer/acp/wire"
)

// authNone is the authentication method that succeeds at once (R-ACP-12).
const authNone = "none-needed"

// A client is what the client has said of itself (R-ACP-11).
type client struct {
	name, version string
	readFile      bool // fs/read_text_file
	writeFile     bool // fs/write_text_file
	notices       bool // the update "notice"
	terminal      bool // live output of commands in _meta.terminal_output
	elicits       bool // elicitation/create with a form
	visits        bool // elicitation/create with an address
	locale        string
}

// initialize notes what the client says of itself. The caller holds c.mu.
func (c *conn) initialize(r *wire.Request) error {
	if c.client != nil {
		return wire.InvalidRequest("initialize was sent before; a connection is initialized once")
	}
	cl, err := readClient(r.Params)
	if err != nil {
		return err
	}
	c.client = cl
	return nil
}

// readClient reads the parameters of initialize. Only the protocol version is
// needed; a capability that cannot be read is one that is not there.
func readClient(params json.RawMessage) (*client, error) {
	p := members(params)
	if !p.has("protocolVersion") {
		return nil, invalid("protocolVersion", "is missing")
	}
	var asked float64
	if json.Unmarshal(p["protocolVersion"], &asked) != nil {
		return nil, invalid("protocolVersion", "must be a number")
	}
	caps := p.object("clientCapabilities")
	info := p.object("clientInfo")
	files := caps.object("fs")
	return &client{
		name:      info.text("name"),
		version:   info.text("version"),
		readFile:  files.flag("readTextFile"),
		writeFile: files.flag("writeTextFile"),
		notices:   caps.object("session").object("notices") != nil,
		terminal:  caps.object("_meta").flag("terminal_output"),
		elicits:   caps.object("elicitation").object("form") != nil,
		visits:    caps.object("elicitation").object("url") != nil,
		locale:    p.meta().text("locale"),
	}, nil
}

// initializeAnswer is a format of the answer: the title and the version as JSON
// strings, and whether sound is taken. It stands as text because encoding it from
// types would take longer than all else between the start of the program and the
// answer.
//
//go:embed initialize.json
var initializeAnswer string

// initializeResult is a constant of the build and the flags (R-ACP-10). The
// version is the one we speak whatever the client asks for: there is no lower
// one, and a client that cannot speak it leaves.
func initializeResult(o Options) json.RawMessage {
	return fmt.Appendf(nil, initializeAnswer, quoted(o.Title), quoted(o.Version), o.Audio)
}

// quoted returns s as a JSON string.
func quoted(s string) string {
	p, err := json.Marshal(s)
	if err != nil {
		return `""` // a string always encodes
	}
	return string(p)
}

// authenticate is authenticate.
func (c *conn) authenticate(_ context.Context, r *wire.Request, _ admission) (any, error) {
	id, err := members(r.Params).required("methodId")
	if err != nil {
		return nil, err
	}
	if id != authNone {
		return nil, invalid("methodId", "is %.100q; the only method is %q", id, authNone)
	}
	return acpsdk.AuthenticateResponse{}, nil
}
