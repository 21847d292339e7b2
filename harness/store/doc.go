// Package store keeps threads and places in a database: SQLite in a file of one
// user, or PostgreSQL, which a team shares (R-STORE-01).
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
//
// The contents of documents are files (R-STORE-04), and the tables say what refers
// to them: the messages of threads that are stored, and the items of workspaces.
// When a thread, a workspace or an item is deleted, the contents are dropped to
// which nothing refers any more. One that was kept, and that nothing has referred to
// yet, has ten minutes for that. What a program has left that was killed while it kept
// one goes then, too. The file stays where several databases keep
// contents in one directory, since another may need it.
package store
