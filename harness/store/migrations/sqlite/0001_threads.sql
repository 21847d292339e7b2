-- Times are microseconds since 1970, UTC.

CREATE TABLE threads (
  id TEXT NOT NULL PRIMARY KEY,
  cwd TEXT NOT NULL,
  updated INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  info TEXT NOT NULL -- the fold of the entries, JSON
) STRICT;

CREATE INDEX threads_updated ON threads (archived, updated, id);
CREATE INDEX threads_cwd ON threads (archived, cwd, updated, id);

CREATE TABLE entries (
  id INTEGER NOT NULL PRIMARY KEY,
  thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  time INTEGER NOT NULL,
  kind TEXT NOT NULL,
  body BLOB NOT NULL, -- JSON
  UNIQUE (thread, seq)
) STRICT;

CREATE TABLE locks (
  thread TEXT NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
  token TEXT NOT NULL,
  host TEXT NOT NULL,
  process INTEGER NOT NULL,
  place TEXT NOT NULL,
  started TEXT NOT NULL,
  until INTEGER NOT NULL
) STRICT;

-- The rowid is the id of an entry. The text comes as words with spaces between
-- them, and is not kept.
CREATE VIRTUAL TABLE words USING fts5 (text, content = '', contentless_delete = 1, tokenize = 'ascii');
