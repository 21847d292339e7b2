package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

const (
	starting = 20 * time.Second // for the gateway to listen
	look     = 50 * time.Millisecond
	ending   = 5 * time.Second // for it to end when it is asked to
)

// A gateway puts the server on standard input and output on HTTP.
type gateway struct {
	node, program string
	url           string
	cmd           *exec.Cmd // nil before start
	cancel        context.CancelFunc
}

// start starts the gateway, once, and returns its address.
func (g *gateway) start(ctx context.Context) (url string, err error) {
	if g.cmd != nil {
		return g.url, nil
	}
	port, err := freePort()
	if err != nil {
		return "", err
	}
	ctx, g.cancel = context.WithCancel(ctx)
	g.cmd = exec.CommandContext(ctx, g.node, filepath.Join(folder, "node_modules/supergateway/dist/index.js"),
		"--stdio", g.program, "--outputTransport", "streamableHttp", "--stateful", "--port", strconv.Itoa(port), "--logLevel", "none")
	g.cmd.Stderr = os.Stderr
	g.cmd.Cancel = func() error { return g.cmd.Process.Signal(os.Interrupt) }
	g.cmd.WaitDelay = ending
	if err := g.cmd.Start(); err != nil {
		return "", err
	}
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	g.url = "http://" + address + "/mcp"
	for until := time.Now().Add(starting); ; {
		c, err := net.DialTimeout("tcp", address, look)
		if err == nil {
			return g.url, c.Close()
		}
		if time.Now().After(until) || ctx.Err() != nil {
			return "", fmt.Errorf("supergateway does not listen: %w", err)
		}
		time.Sleep(look)
	}
}

// stop ends the gateway.
func (g *gateway) stop() {
	if g.cancel != nil {
		g.cancel()
		g.cmd.Wait() // it was asked to end, and how it does is of no interest
	}
}

// freePort returns a port that nobody listens on at the moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}
