package client

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/mark3labs/mcp-go/mcp"
)

// Revisions lists the revisions of the protocol that are spoken, the newest first.
func Revisions() []string {
	return []string{
		mcp.ProtocolVersion20260728, mcp.ProtocolVersion20251125, mcp.ProtocolVersion20250618,
		mcp.ProtocolVersion20250326, mcp.ProtocolVersion20241105,
	}
}

// newest returns the newest revision of an era.
func newest(era Era) string {
	if era == Stateless {
		return mcp.ProtocolVersion20260728
	}
	return mcp.ProtocolVersion20251125
}

// eraOf returns the era of a revision that is spoken, Unknown for any other.
func eraOf(revision string) Era {
	switch {
	case !slices.Contains(Revisions(), revision):
		return Unknown
	case mcp.IsModernProtocol(revision):
		return Stateless
	}
	return Handshake
}

// common returns the newest revision that both sides speak; "" is none.
func common(theirs []string) string {
	for _, revision := range Revisions() {
		if slices.Contains(theirs, revision) {
			return revision
		}
	}
	return ""
}

// strangers is the error of two sides that speak no revision in common.
func strangers(theirs ...string) error {
	ours := Revisions()
	return fmt.Errorf("the server speaks MCP %s, this program %s to %s: update the older one of them",
		cut(strings.Join(theirs, ", "), maxLine), ours[len(ours)-1], ours[0])
}

// strs returns the strings of an array; what else is in it is left out.
func strs(raw json.RawMessage) (list []string) {
	values, _ := elements(raw)
	for _, value := range values {
		if s, ok := text(value); ok {
			list = append(list, s)
		}
	}
	return list
}
