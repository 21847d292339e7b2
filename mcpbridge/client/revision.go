package client

import "github.com/mark3labs/mcp-go/mcp"

// Revisions lists the revisions of the protocol that are spoken, the newest first.
func Revisions() []string {
	return []string{
		mcp.ProtocolVersion20260728, mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618,
		mcp.ProtocolVersion20250326, mcp.ProtocolVersion20241105,
	}
}
