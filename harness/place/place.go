// Package place is where sessions belong: projects, which give them instructions,
// and workspaces, which hold documents.
package place

import (
	"context"
	"errors"
	"time"
)

// Errors that a caller branches on.
var (
	ErrNone  = errors.New("there is none of that name")
	ErrTaken = errors.New("the name is taken")
)

// A Project gives the sessions in its directories a name and instructions
// (R-PROMPT-28).
type Project struct {
	ID           string // as of a session, made from the name
	Name         string
	Dirs         []string // absolute and clean; a session joins by the longest that holds its directory
	Instructions string
	Created      time.Time
	Updated      time.Time
}

// A Workspace is a named collection of documents (R-PROMPT-55).
type Workspace struct {
	ID          string
	Title       string
	Description string
	Documents   int // how many it has
	Created     time.Time
	Updated     time.Time // also by a document that came or went
}

// A Document is a content that is kept as a file, named by its hash (R-STORE-04).
type Document struct {
	Key  string // document:<id>, from the content
	Name string
	Type string // media type
	Size int64  // bytes
}

// An Item is a document in a workspace.
type Item struct {
	Document
	Collection string // the part of the workspace that it stands in; "" is none
	Pinned     bool
	Added      time.Time
}

// Projects keeps projects.
type Projects interface {
	Project(ctx context.Context, id string) (Project, error) // or ErrNone
	Projects(ctx context.Context) ([]Project, error)         // by name
	// AddProject keeps a new one, or fails with ErrTaken.
	AddProject(ctx context.Context, p Project) error
	// SetProject replaces one: ErrNone.
	SetProject(ctx context.Context, p Project) error
	DeleteProject(ctx context.Context, id string) error // or ErrNone
	// ProjectOf returns the project whose directory holds dir, the longest
	// first, or ErrNone.
	ProjectOf(ctx context.Context, dir string) (Project, error)
}

// Workspaces keeps workspaces.
type Workspaces interface {
	Workspace(ctx context.Context, id string) (Workspace, error) // or ErrNone
	// Workspaces returns the most recently changed first, limit of them; 0 is all.
	Workspaces(ctx context.Context, limit int) ([]Workspace, error)
	CountWorkspaces(ctx context.Context) (int, error)
	AddWorkspace(ctx context.Context, w Workspace) error       // or ErrTaken
	SetWorkspace(ctx context.Context, w Workspace) error       // or ErrNone
	DeleteWorkspace(ctx context.Context, id string) error      // or ErrNone; its documents stay kept while another place has them
	Items(ctx context.Context, id string) ([]Item, error)      // in the order they were added; or ErrNone
	SetItem(ctx context.Context, id string, i Item) error      // adds or changes one; the document must be kept
	DropItem(ctx context.Context, id string, key string) error // or ErrNone
}

// Documents keeps contents.
type Documents interface {
	// Keep keeps a content, once however often it comes, and returns its key.
	Keep(ctx context.Context, name, mediaType string, content []byte) (Document, error)
	Document(ctx context.Context, key string) (Document, error) // or ErrNone
	Content(ctx context.Context, key string) ([]byte, error)    // or ErrNone
}

// Places is all of them.
type Places interface {
	Projects
	Workspaces
	Documents
}
