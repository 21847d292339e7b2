// Package oauthtest is an authorization server with a protected MCP server beside it,
// on two addresses of this machine, for tests. Both keep to the rules; a [Config] says
// which they break. What they were asked is noted, so that a test can see what a client
// sends.
package oauthtest
