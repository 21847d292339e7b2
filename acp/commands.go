package acp

import "github.com/lorimer-dev/lorimer/harness"

type commandsUpdate struct {
	Update   string    `json:"sessionUpdate"`
	Commands []command `json:"availableCommands"`
}

// A command is a slash command as clients show it.
type command struct {
	Name        string     `json:"name"`
	Description string     `json:"description"`
	Input       *inputHint `json:"input,omitempty"`
}

type inputHint struct {
	Hint string `json:"hint"`
}

func commands(h *harness.Session) []command {
	list := []command{}
	for _, x := range h.Commands() {
		cmd := command{Name: x.Name, Description: x.Description}
		if x.Hint != "" {
			cmd.Input = &inputHint{x.Hint}
		}
		list = append(list, cmd)
	}
	return list
}
