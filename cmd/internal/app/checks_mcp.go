package app

import (
	"context"
	"fmt"
	"os"

	"github.com/lorimer-dev/lorimer/cmd/internal/config"
	"github.com/lorimer-dev/lorimer/cmd/internal/doctor"
	"github.com/lorimer-dev/lorimer/mcpbridge"
	"github.com/lorimer-dev/lorimer/mcpbridge/discover"
	"github.com/lorimer-dev/lorimer/mcpbridge/transport/stdio"
	"github.com/lorimer-dev/lorimer/tools/workspace/local"
)

// checkServers looks at the MCP servers that are declared for the current directory,
// and contacts none.
func checkServers(ctx context.Context, c *config.Config, environ []string) []doctor.Finding {
	dir, err := os.Getwd()
	if err != nil {
		return one(doctor.Bad, "the current directory cannot be found: %v", err)
	}
	found, warnings := declaredServers(c, vars(c, environ, dir))
	var lines []string
	for _, w := range warnings {
		lines = append(lines, w.String())
	}
	login := local.NewLoginPath(environ)
	used := 0
	for _, f := range found {
		if f.Server.Off == "" && f.Server.Trouble == "" {
			used++
		}
		for _, line := range flaws(ctx, f, login) {
			lines = append(lines, fmt.Sprintf("%s: server %.100q: %s", f.Server.Source, f.Server.Name, line))
		}
	}
	if len(found) == 0 {
		return noted(one(doctor.OK, "no MCP server is declared"), lines)
	}
	return noted(one(doctor.OK, "%s declared, %d of them in use", count(len(found), "server"), used), lines)
}

// flaws returns what is wrong with a server, as far as it shows without contact.
func flaws(ctx context.Context, f discover.Found, login *local.LoginPath) (lines []string) {
	s := f.Server
	switch {
	case f.Waits():
		lines = append(lines, s.Off)
	case s.Off != "": // as the user wants it
		return nil
	case s.Trouble != "":
		lines = append(lines, s.Trouble)
	case s.Kind == mcpbridge.Stdio:
		env := login.Environ(ctx)
		for name, value := range s.Env {
			env = append(env[:len(env):len(env)], name+"="+value)
		}
		if err := stdio.Check(stdio.Options{Command: s.Command, Args: s.Args, Env: env, Dir: s.Dir}); err != nil {
			lines = append(lines, err.Error())
		}
	}
	if f.Approval != discover.Unneeded {
		for _, field := range f.Entry.Literal() {
			lines = append(lines, field+" holds a secret that whoever has this file can read; write ${NAME} there and set that variable")
		}
	}
	return lines
}
