package langchain

import "time"

// Options tune the adapter. The zero value is right for a model without quirks.
type Options struct {
	Provider string   // named in errors; default langchain
	Ref      string   // PROVIDER/MODEL that made the reasoning; default Provider
	Secrets  []string // kept out of every error

	Shape    Shape    // how it wants the conversation
	Pictures Pictures // how it wants pictures
	NoTools  bool     // it does not look at tools: none are sent
	// WholeWithTools asks for the answer in one piece when tools are offered, for
	// models that lose their calls while they stream.
	WholeWithTools bool
	Whole          bool // every answer comes in one piece
	// NamesEnd says that it names the reason why an answer ended, so that one
	// without a reason was cut short.
	NamesEnd bool
	// Deaf says that it does not heed its context, and leaks when a callback
	// returns an error: after a cancel it is let run on, and what it says is dropped.
	Deaf      bool
	MaxTokens int // of an answer where the request names none; 0 leaves it to the model

	// First is how long it may take to the first piece, Idle how long from one
	// piece to the next; default 300s each. An answer in one piece may take both.
	First, Idle time.Duration
	// Grace is how long it may take to end after a cancel; default 250ms. Then it
	// is left behind.
	Grace time.Duration
	Left  *Left // what is left behind; nil is the adapter's own
}

// A Shape is how a model wants a conversation.
type Shape int

// The shapes.
const (
	// Grouped is messages of many parts; the results of tools stand alone.
	Grouped Shape = iota
	// Split is a message for each part, for models that look at the first one only.
	Split
	// Paired is Split with each result right after its call, for models that send
	// results without the id of their call.
	Paired
	// Joined is one text for each message, with the pictures beside it.
	Joined
	// Flat is the whole conversation as one text.
	Flat
)

// Pictures is how a model wants pictures.
type Pictures int

// The ways to send pictures.
const (
	Data    Pictures = iota // their bytes
	DataURL                 // an address that holds them
)
