package modeltest

import "slices"

// A Quirk is a way in which a server cuts or decorates a stream that says the
// same as the plain one, or breaks it. A reply bears at most one. What a protocol
// does not know of, it ignores; [Quirks] lists what it knows.
type Quirk string

// Quirks of every protocol.
const (
	// KeepAlive puts a comment in front of each event, an empty line where the
	// events are lines.
	KeepAlive Quirk = "keep-alive"
	// OnlyKeepAlive sends nothing but such signs of life, until the client goes
	// away (C110).
	OnlyKeepAlive Quirk = "only keep-alive"
	// CarriageReturns ends lines with CR and LF, and has no space behind data:.
	CarriageReturns Quirk = "carriage returns"
	// MalformedEvent sends an event that is no JSON behind the pieces.
	MalformedEvent Quirk = "malformed event"
	// HugeArgument makes the arguments of the first call an object of 40 MB, or of 4
	// under the race detector.
	HugeArgument Quirk = "huge argument"
)

// Quirks of more than one protocol.
const (
	// Interleaved sends the pieces of calls in turn, in place of one call after
	// the other: chat completions, Responses, Anthropic.
	Interleaved Quirk = "interleaved"
	// WholeCall sends a call in one event: chat completions; with Anthropic its
	// input stands in the start of the block.
	WholeCall Quirk = "whole call"
	// WithoutIDs leaves the ids of calls out: Gemini, Ollama, chat completions.
	WithoutIDs Quirk = "no ids"
	// OneEvent sends all calls in one event: chat completions, Gemini, Ollama.
	OneEvent Quirk = "one event"
	// TextWithCall sends the last text and the first call in one event: chat
	// completions, Gemini, Ollama.
	TextWithCall Quirk = "text with call"
	// Refusal sends the text as a refusal: chat completions, Responses.
	Refusal Quirk = "refusal"
)

// Quirks of chat completions.
const (
	NoIndex          Quirk = "no index"     // no delta of a call has an index
	ReusedIndex      Quirk = "reused index" // all calls begin under index 0, their tails come under their own (C104)
	NoType           Quirk = "no type"      // calls have no type
	TypeAlways       Quirk = "type on every delta"
	LateID           Quirk = "late id"           // a call has its id in its second delta only (C105)
	EmptyID          Quirk = "empty id"          // the id of every call is "" (C105)
	RepeatedCall     Quirk = "repeated call"     // each call comes whole, and again under another index (C105)
	TrailingDelta    Quirk = "trailing delta"    // an empty delta follows each call, and one under an index of its own
	NullFinish       Quirk = "null finish"       // an empty chunk without a reason follows the one with it
	UsageInFinish    Quirk = "usage in finish"   // the counts are in the chunk with the reason
	Prelude          Quirk = "prelude"           // a chunk without choices comes first, as from Azure
	NoDone           Quirk = "no done"           // the stream just ends behind the reason and the counts
	ReasoningField   Quirk = "reasoning"         // thoughts come in reasoning
	ReasoningDetails Quirk = "reasoning details" // thoughts come in reasoning and reasoning_details, signed at the end
	TypedContent     Quirk = "typed content"     // content is a list of parts, thoughts among them, as from Mistral
)

// Quirks of Responses.
const (
	NoDeltas       Quirk = "no deltas"       // text, summary and arguments come in done events only
	ArgumentsDone  Quirk = "arguments done"  // arguments come in their done event only
	OnlyItems      Quirk = "only items"      // nothing but finished items
	EmptyOutput    Quirk = "empty output"    // the final response has no output
	SummaryParts   Quirk = "summary parts"   // each thought is a part of the summary of its own
	IncompleteItem Quirk = "incomplete item" // the limit cuts the message: item and response are incomplete
	ErrorEvent     Quirk = "error event"     // an error is an event error in place of response.failed
)

// Quirks of Anthropic's messages.
const (
	Pings            Quirk = "pings"             // a ping comes between all events
	UnknownBlock     Quirk = "unknown block"     // a block of a kind that is yet to be invented
	RedactedThinking Quirk = "redacted thinking" // a thought in opaque form follows the others
	ServerToolUse    Quirk = "server tool use"   // the provider uses a tool of its own
)

// Quirks of Gemini.
const (
	EmptyLastChunk  Quirk = "empty last chunk"  // counts alone follow the reason
	SignatureOnText Quirk = "signature on text" // the last text itself is signed, not an empty one behind it
	FinishWithCall  Quirk = "finish with call"  // the last call and the reason come in one chunk
)

// TextInLast has the last text of Ollama come with done.
const TextInLast Quirk = "text in last"

// everywhere are the quirks that every protocol knows and that leave the answer
// as it is.
func everywhere() []Quirk { return []Quirk{KeepAlive, CarriageReturns} }

// Quirks returns the quirks of a protocol, as [Protocol] names it, that do not
// change what the answer says.
func Quirks(protocol string) []Quirk {
	return slices.Concat(everywhere(), map[string][]Quirk{
		"openai-chat": {Interleaved, WholeCall, WithoutIDs, OneEvent, TextWithCall, NoIndex, ReusedIndex, NoType, TypeAlways, LateID, EmptyID, RepeatedCall,
			TrailingDelta, NullFinish, UsageInFinish, Prelude, NoDone, ReasoningField, ReasoningDetails, TypedContent},
		"openai-responses": {Interleaved, NoDeltas, ArgumentsDone, OnlyItems, EmptyOutput, SummaryParts},
		"anthropic":        {Interleaved, WholeCall, Pings, UnknownBlock, RedactedThinking, ServerToolUse},
		"gemini":           {WithoutIDs, OneEvent, TextWithCall, EmptyLastChunk, SignatureOnText, FinishWithCall},
		"ollama":           {WithoutIDs, OneEvent, TextWithCall, TextInLast},
	}[protocol])
}
