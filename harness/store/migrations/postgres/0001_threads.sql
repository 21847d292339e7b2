-- Times are microseconds since 1970, UTC. Ids are compared byte by byte.

CREATE TABLE threads (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  cwd text COLLATE "C" NOT NULL,
  updated bigint NOT NULL,
  archived boolean NOT NULL,
  info text NOT NULL -- the fold of the entries, JSON
);

CREATE INDEX threads_updated ON threads (archived, updated, id);
CREATE INDEX threads_cwd ON threads (archived, cwd, updated, id);

CREATE TABLE entries (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  thread text COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  seq bigint NOT NULL,
  time bigint NOT NULL,
  kind text NOT NULL,
  body bytea NOT NULL, -- JSON, which may hold what a text of PostgreSQL may not
  UNIQUE (thread, seq)
);

CREATE TABLE locks (
  thread text COLLATE "C" NOT NULL PRIMARY KEY REFERENCES threads (id) ON DELETE CASCADE,
  token text NOT NULL,
  host text NOT NULL,
  process bigint NOT NULL,
  place text NOT NULL,
  started text NOT NULL,
  until bigint NOT NULL
);

CREATE TABLE words (
  rowid bigint NOT NULL PRIMARY KEY REFERENCES entries (id) ON DELETE CASCADE,
  text tsvector NOT NULL
);

CREATE INDEX words_text ON words USING gin (text);
