package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/lorimer-dev/lorimer/cmd/internal/app"
	"github.com/lorimer-dev/lorimer/mcpbridge/oauth"
	"github.com/lorimer-dev/lorimer/tools"
)

func newMCPLogin(g *globals) *cobra.Command {
	alone, port := false, 0
	c := withJSON(&cobra.Command{
		Use:   "login NAME",
		Short: "Log in at an MCP server, with a browser",
		Long:  text("mcp-login"),
		Args:  exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if port < 0 || port > 65535 {
				return usagef("--port %d: there is no such port; it is between 1 and 65535", port)
			}
			return g.inMCP(cmd, func(ctx context.Context, a *app.App, dir string) error {
				l := app.MCPLogin{Server: args[0], Port: port, Tell: func(line string) { fmt.Fprintln(g.process.Stderr, tools.Visible(line)) }}
				if !alone {
					c, err := a.Config()
					if err != nil {
						return err
					}
					l.Open = func(address string) error { return openBrowser(without(g.process.Environ, c.SecretEnv()), address) }
				}
				got, err := a.LogIn(ctx, dir, l)
				if err != nil {
					return err
				}
				return g.printLogin(cmd, args[0], got)
			})
		},
	})
	c.Flags().BoolVar(&alone, "no-browser", false, "only print the address, and open no browser")
	c.Flags().IntVar(&port, "port", 0, "wait for the browser at `PORT` of this machine; default any")
	return c
}

func newMCPLogout(g *globals) *cobra.Command {
	return withJSON(&cobra.Command{
		Use:   "logout NAME",
		Short: "Forget the credential for an MCP server",
		Long:  text("mcp-logout"),
		Args:  exactly("NAME"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return g.inMCP(cmd, func(ctx context.Context, a *app.App, dir string) error {
				gone, err := a.LogOut(ctx, dir, args[0])
				if err != nil {
					return err
				}
				if gone.Trouble != nil {
					fmt.Fprintf(g.process.Stderr, "lorimer: the credential is forgotten here, and holds there until it ends: %s\n", tools.Visible(gone.Trouble.Error()))
				}
				if g.json(cmd) {
					return printJSON(cmd.OutOrStdout(), map[string]any{"server": args[0], "forgotten": gone.Had, "revoked": gone.Revoked})
				}
				if !gone.Had {
					fmt.Fprintf(g.process.Stderr, "lorimer: nobody is logged in at %s\n", tools.Line(args[0], titleWidth))
				}
				return nil
			})
		},
	})
}

// A loginSummary is what --json says of a login. Nothing in it is secret.
type loginSummary struct {
	Server   string     `json:"server"`
	Resource string     `json:"resource"`
	Issuer   string     `json:"issuer"`
	ClientID string     `json:"clientId"`
	Scopes   []string   `json:"scopes"`
	Expires  *time.Time `json:"expires"` // null is unknown
	Renews   bool       `json:"renews"`
}

// printLogin says what a login has brought.
func (g *globals) printLogin(cmd *cobra.Command, name string, got oauth.Grant) error {
	if g.json(cmd) {
		s := loginSummary{Server: name, Resource: got.Resource, Issuer: got.Issuer, ClientID: got.ClientID, Scopes: append([]string{}, got.Scopes...), Renews: got.Renews}
		if !got.Expires.IsZero() {
			s.Expires = new(got.Expires.UTC().Truncate(time.Second))
		}
		return printJSON(cmd.OutOrStdout(), s)
	}
	line := fmt.Sprintf("logged in at %s, by %s", name, got.Issuer)
	if len(got.Scopes) > 0 {
		line += ", for " + strings.Join(got.Scopes, " ")
	}
	switch {
	case got.Renews:
		line += "; it is renewed by itself"
	case !got.Expires.IsZero():
		line += "; until " + got.Expires.Local().Format(time.DateTime)
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), tools.Visible(line))
	return err
}
