// Package harness drives a model through a user's message: it keeps one
// harness per thread, keyed on a signature of the stable prompt, and runs the
// turn from the message to the last tool result.
package harness
