package app

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/cmd/internal/doctor"
)

// checkModel looks at the model that would answer.
func checkModel(ctx context.Context, c *config.Config) []doctor.Finding {
	a := &App{} // for what is known and found, without anything that has to be closed
	ref, from := a.finder.choose(ctx, c)
	choice, err := c.Choose(ref)
	if err != nil {
		return one(doctor.Bad, "%v", err)
	}
	if from == "" {
		from = "it is configured"
	}
	found := one(doctor.OK, "%s, because %s", ref, from)
	switch {
	case choice.Offline:
		found[0].State = doctor.Note
		found[0].Text += "; it is no language model: set the key of a provider, or model in " + c.Paths.Config
	case choice.Script != "":
		if !exists(choice.Script) {
			found = append(found, one(doctor.Bad, "the script %s is missing", choice.Script)...)
		}
	default:
		found = append(found, a.checkChosen(ctx, c, choice, ref)...)
	}
	return found
}

// checkChosen looks at what it takes to ask the model of a provider.
func (a *App) checkChosen(ctx context.Context, c *config.Config, choice config.Choice, ref string) []doctor.Finding {
	e := choice.Endpoint
	k := a.know(c, choice, ref)
	var found []doctor.Finding
	if _, err := c.Key(ctx, e.Name); err != nil {
		found = one(doctor.Bad, "%v", err)
	}
	for _, line := range a.missing(c, e, k) {
		if !strings.HasPrefix(line, missingKey) { // which has been told
			found = append(found, one(doctor.Bad, "%s", line)...)
		}
	}
	if e.Local && !answers(ctx, e.Address()) {
		found = append(found, one(doctor.Bad, "nothing answers at %s; start the server of %s, or choose another model", config.HideURL(e.Address()), e.Title)...)
	}
	return noted(found, k.strange(c, e))
}

// checkProviders looks at what the configuration says of providers, whether they are
// in use or not, and at the way to them. Nobody is asked.
func checkProviders(c *config.Config) []doctor.Finding {
	var found []doctor.Finding
	ready := 0
	for _, e := range c.Endpoints() {
		if c.HasKey(e) {
			ready++
		}
		if _, described := c.Providers[e.Name]; described {
			found = append(found, checkProvider(c, e)...)
		}
	}
	if err := c.Proxy.Check(); err != nil {
		for line := range strings.Lines(err.Error()) {
			found = append(found, one(doctor.Bad, "%s", strings.TrimSpace(line))...)
		}
	}
	if _, err := certificates(c.Certificates()); err != nil {
		found = append(found, one(doctor.Bad, "%v", err)...)
	}
	return append(one(doctor.OK, "%s can be asked", count(ready, "provider")), found...)
}

// checkProvider looks at a provider that the configuration describes.
func checkProvider(c *config.Config, e config.Endpoint) []doctor.Finding {
	var found []doctor.Finding
	if !e.Keyless && c.KeyFrom(e) == "" {
		found = one(doctor.Note, "%s has no key; %s", e.Name, c.WayToKey(e))
	}
	if u, err := url.Parse(e.BaseURL); err == nil && u.Scheme == "http" && !e.Local && (c.KeyFrom(e) != "" || len(e.Headers) > 0) {
		found = append(found, one(doctor.Note, "%s is asked without encryption, so that others on the way can read its key; use https in base_url", e.Name)...)
	}
	if file := c.Providers[e.Name].CAFile; file != "" {
		if _, err := certificates(e.CAFiles[len(e.CAFiles)-1:]); err != nil {
			found = append(found, one(doctor.Bad, "%s: %v", e.Name, err)...)
		}
	}
	return found
}

// answers reports whether something listens at an address of this machine.
func answers(ctx context.Context, address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	d := net.Dialer{Timeout: time.Second}
	conn, err := d.DialContext(ctx, "tcp", net.JoinHostPort(u.Hostname(), port))
	if err != nil {
		return false
	}
	conn.Close()
	return true
}
