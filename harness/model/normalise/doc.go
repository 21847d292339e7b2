// Package normalise makes a request fit for the model that is to read it
// (R-HARN-15).
//
// A session keeps what happened, whatever model it happened with. Providers are
// strict: every call wants its result, names and ids have an alphabet, thoughts and
// what is signed go back to no one but their author (R-HARN-31), and each reads
// another part of JSON Schema. The difference is made up here, for one request, in a
// copy; the history itself is never touched. What a message becomes depends on it and
// on what stands before it alone, so that a history that grows keeps its prefix
// (R-HARN-14).
//
// Calls stay typed for a model that calls tools. For one that does not, and where the
// user wants it so, answers are told as text by a rule (R-TASK-40, C-33).
package normalise
