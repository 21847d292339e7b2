// Package harness drives a model through a user's message.
//
// An [Engine] opens sessions. A prompt first takes a [Slot] of its [Session],
// which fixes its place in the queue and its options, and then runs its turn:
// take the thread, freeze what the send depends on, compose the prompt, get the
// harness, store the message, ask the model, run the tools that it calls, until
// it answers.
//
// What goes with a single message, such as the skills that it names and the table of
// what is attached, is found when it is sent, put around the text of the user, and
// stored as part of what was sent: the text that is displayed stays as it was
// written, and later requests repeat the whole byte for byte.
//
// A thread outlives its sessions, and may be open in several, of one process or
// of many. The lock of a turn sees to it that one of them answers at a time
// (R-ACP-53); the next one reads what it has missed.
//
// A harness is a model set up for one thread together with the live
// conversation. Its [Signature] says what it was built for; that a send's
// differs is the only reason to build another while it lives (R-HARN-04). The
// conversation is a fold over the log that the thread is, so that a new harness
// continues with the same bytes as the old one would have.
//
// Three things hold however a turn ends. What has happened is in the log before
// it is told to the watcher. Every call in the log has its result, and every call
// that the watcher has seen has ended. Nothing of the turn runs any more.
package harness
