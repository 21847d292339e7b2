// Package store keeps threads in a database: SQLite in a file of one user, or
// PostgreSQL, which a team shares (R-STORE-01).
//
// Both databases run the same statements over the same tables. What differs
// stands in sqlite.go and postgres.go: how a database is opened, how one change
// keeps out another, and how words are looked up. A change is one transaction; it
// is on the disk when the method returns, and has not happened when the method
// fails. Only while a commit was on its way to a PostgreSQL that went away, nobody
// can tell.
//
// The log of a thread is read page by page, and nothing of the database is held
// while the reader works on a page.
package store
