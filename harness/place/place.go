// Package place is where sessions belong: projects, which give them instructions,
// and workspaces, which hold documents.
//
// A store keeps them ([Places]); what is allowed in one is checked here, alike for
// every store.
package place

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// Errors that a caller branches on.
var (
	ErrNone    = errors.New("there is none")
	ErrTaken   = errors.New("there is one already")
	ErrChanged = errors.New("it was changed in between")

	// ErrNoDocument is the ErrNone of a document, so that it is not taken for that of the
	// workspace.
	ErrNoDocument = fmt.Errorf("%w of this key", ErrNone)
)

// None is ErrNone for a thing, such as a project, that was asked for by id.
func None(thing, id string) error { return fmt.Errorf("%s %.100q: %w", thing, id, ErrNone) }

// NoDocument is ErrNoDocument for a document that was asked for by key.
func NoDocument(key string) error { return fmt.Errorf("document %.100q: %w", key, ErrNoDocument) }

// Changed is ErrChanged for a thing that was to be changed.
func Changed(thing, id string) error { return fmt.Errorf("%s %.100q: %w", thing, id, ErrChanged) }

// Taken is ErrTaken for a thing that was to be made.
func Taken(thing, id string) error { return fmt.Errorf("%s %.100q: %w", thing, id, ErrTaken) }

// A Project gives the sessions in its directories a name and instructions
// (R-PROMPT-28).
type Project struct {
	ID           string // made from the name by [NewID]
	Name         string
	Dirs         []string // absolute and clean, each of one project only; a session joins by the longest that holds its directory
	Instructions string
	Created      time.Time // set by the store
	Updated      time.Time // set by the store, later with every change
}

// A Workspace is a named collection of documents (R-PROMPT-55).
type Workspace struct {
	ID          string // made from the title by [NewID]
	Title       string
	Description string
	Documents   int       // how many it has; counted by the store
	Created     time.Time // set by the store
	Updated     time.Time // set by the store, also when an item came, changed or went
}

// A Document is a content that is kept as a file, named by its hash (R-STORE-04).
type Document struct {
	Key  string // document:<id>, from the content
	Name string // on one line
	Type string // media type
	Size int64  // bytes
}

// An Item is a document in a workspace. Its name is its own: what others call the
// same content does not change it.
type Item struct {
	Document
	Collection string // the part of the workspace that it stands in; "" is none
	Pinned     bool
	Added      time.Time // set by the store when the item is added
}

// A Summary tells of a workspace in short.
type Summary struct {
	Workspace
	Collections []string // the first by name, byte by byte
	Pinned      []Item   // the first in the order they were added

	AllCollections, AllPinned int // how many there are
}

// A WorkspaceEdit says what is changed of a workspace. Nil leaves what is there.
type WorkspaceEdit struct{ Title, Description *string }

// An ItemEdit says what is changed of an item. Nil leaves what is there, and in a new
// one nothing.
type ItemEdit struct {
	Name       string // "" leaves what is there, and in a new one what the document is called
	Collection *string
	Pinned     *bool
}

// Projects keeps projects.
type Projects interface {
	Project(ctx context.Context, id string) (Project, error) // or ErrNone
	Projects(ctx context.Context) ([]Project, error)         // by name
	// AddProject keeps a new one, or fails with ErrTaken.
	AddProject(ctx context.Context, p Project) error
	// SetProject replaces one: ErrNone, and ErrChanged if it is no longer the one of
	// p.Updated, where p has that.
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
	// Summary returns a workspace with at most limit of its collections and of its
	// pinned items, at least one, or fails with ErrNone. The others are counted, and
	// not read.
	Summary(ctx context.Context, id string, limit int) (Summary, error)
	AddWorkspace(ctx context.Context, w Workspace) error                 // or ErrTaken
	EditWorkspace(ctx context.Context, id string, e WorkspaceEdit) error // or ErrNone
	// DeleteWorkspace deletes one with its items, or fails with ErrNone.
	DeleteWorkspace(ctx context.Context, id string) error
	Items(ctx context.Context, id string) ([]Item, error) // in the order they were added; or ErrNone
	// Item returns the item of a document: ErrNone, and of the document ErrNoDocument.
	Item(ctx context.Context, id, key string) (Item, error)
	// AddItem adds a document that is kept to a workspace, or changes the item that it
	// is there, as e says. ErrNone as of Item.
	AddItem(ctx context.Context, id, key string, e ItemEdit) error
	EditItem(ctx context.Context, id, key string, e ItemEdit) error // ErrNone as of Item
	DropItem(ctx context.Context, id, key string) error             // ErrNone as of Item
}

// Documents keeps contents.
type Documents interface {
	// Keep keeps a content, once however often it comes, and returns it as a
	// document of that name. The name and the type that came last are the
	// document's.
	Keep(ctx context.Context, name, mediaType string, content []byte) (Document, error)
	Document(ctx context.Context, key string) (Document, error) // or ErrNoDocument
	// Content returns what was kept, byte for byte, or ErrNoDocument. It fails where
	// that is damaged or gone.
	Content(ctx context.Context, key string) ([]byte, error)
}

// Places is all of them. What the Check of a [Project], a [Workspace], a
// [WorkspaceEdit] or an [ItemEdit] refuses is refused with its error. A content stays
// kept as long as a stored thread or a workspace refers to it; afterwards a store may
// drop it.
type Places interface {
	Projects
	Workspaces
	Documents
}
