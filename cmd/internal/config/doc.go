// Package config turns files, environment and flags into one [Config].
//
// Nothing else of the program reads any of the three. A flag goes over the
// environment, the environment over the file, the file over the default; each
// value remembers where it came from, so that [Config.Values] can tell. Keys of
// providers are not read before [Config.Key] asks for one.
//
// A workspace may carry a file of its own, which [Config.Within] applies: it
// can make things stricter and nothing else (R-CMD-15).
package config
