package app

import (
	"context"
	"errors"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/harness/model"
	"github.com/lorimer-dev/lorimer/harness/model/probe"
)

// A Shown model is all there is to say of one.
type Shown struct {
	Known
	Default  bool // new sessions begin with it
	Title    string
	KindFrom string
	Address  string // of the server, without what is secret
	BaseFrom string
	KeyFrom  string   // where its key is, never the key; "" is nowhere
	Keyless  bool     // it can do without
	Missing  []string // what has to be done before it answers, a line each
}

// Show returns what is to be said of the model ref, PROVIDER alone being its usual
// one. With ask its server is asked first; failed is why that has no answer.
func (a *App) Show(ctx context.Context, ref string, ask bool) (s Shown, failed, err error) {
	c, err := a.config.read()
	if err != nil {
		return Shown{}, nil, err
	}
	ref = full(c, ref)
	choice, err := c.Choose(ref)
	if err != nil {
		return Shown{}, nil, err
	}
	e := choice.Endpoint
	if ask && e.Name != "" {
		if failed = a.askAbout(ctx, c, choice, ref); ctx.Err() != nil {
			return Shown{}, nil, ctx.Err()
		}
	}
	s = Shown{Known: a.know(c, choice, ref), Default: a.finder.find(ctx, c) == ref, Keyless: true}
	switch {
	case choice.Script != "":
		if !exists(choice.Script) {
			s.Missing = []string{"the script " + choice.Script + " is missing"}
		}
		return s, failed, nil
	case choice.Offline:
		return s, failed, nil
	}
	key := "providers." + e.Name + "."
	s.Title, s.Address, s.KeyFrom, s.Keyless = e.Title, config.HideURL(e.Address()), c.KeyFrom(e), e.Keyless
	s.KindFrom, s.BaseFrom = whence(c.Origin(key+"kind")), whence(c.Origin(key+"base_url"))
	s.Missing = a.missing(c, e, s.Known)
	return s, failed, nil
}

// whence is where a setting of a provider comes from.
func whence(origin string) string {
	if origin == "default" {
		return "built in"
	}
	return origin
}

// askAbout asks the server of choice for its model.
func (a *App) askAbout(ctx context.Context, c *config.Config, choice config.Choice, ref string) error {
	e := choice.Endpoint
	ctx, cancel := context.WithTimeout(ctx, askWhole)
	defer cancel()
	key, err := c.Key(ctx, e.Name)
	if err != nil {
		return err
	}
	s, err := a.server(c, e, a.know(c, choice, ref).Kind, key)
	if err != nil {
		return err
	}
	m, err := probe.Ask(ctx, s, choice.ID)
	if err != nil {
		return err
	}
	m.ID = choice.ID // whatever the server calls it
	a.servers.tell(e, m)
	return nil
}

// missingKey begins the line of a key that is missing.
const missingKey = "the key; "

// missing tells what keeps the model k of e from being asked, as far as it shows
// without asking anybody and without a command that prints a key.
func (a *App) missing(c *config.Config, e config.Endpoint, k Known) []string {
	var lines []string
	if c.KeyFrom(e) == "" && !e.Keyless {
		lines = append(lines, missingKey+c.WayToKey(e))
	}
	client, err := a.client(c, e)
	if err != nil {
		return append(lines, err.Error())
	}
	const some = "key" // nothing is sent
	if _, err := a.stream(k.Descriptor, e, some, client); err != nil {
		line := err.Error()
		if fail, ok := errors.AsType[*model.Error](err); ok {
			line = fail.Message
		}
		lines = append(lines, line)
	}
	return lines
}
