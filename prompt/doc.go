// Package prompt assembles what a model is told, strictly: a [Registry] takes
// sections, tool schemas and variables, and every mistake in them is an error
// that names its place before any model is asked.
//
// Three steps lead from the registry to a request. [Registry.Assemble] collects
// the sections of one scope with their placeholders still in them.
// [Registry.Parts] interpolates them into the stable part, which is the same for
// as long as nothing changes, and adds the volatile part, which is the date.
// [Registry.Compose] puts the parts and the notes of one send around the user's
// message.
//
// What a user typed never is a template: it enters as the value of a variable,
// which is not scanned again, or as a literal section. Short texts from outside
// are put on one line, longer ones between tags that they cannot close ([Wrap]),
// and what does not show in them is written out ([Reveal]).
//
// [Standard] has what the agent says. What always stands there is the same for
// every model, with tools and without; the rest follows what is installed.
//
// The package is a leaf: it knows nothing of turns, models or editors. The words
// for the model are the files in text.
package prompt
