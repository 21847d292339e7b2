-- Times are microseconds since 1970, UTC.

CREATE TABLE projects (
  id TEXT NOT NULL PRIMARY KEY,
  name TEXT NOT NULL,
  instructions TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;

CREATE TABLE project_dirs (
  dir BLOB NOT NULL PRIMARY KEY, -- a path need not be UTF-8
  project TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  position INTEGER NOT NULL
) STRICT;

CREATE INDEX project_dirs_project ON project_dirs (project, position);

CREATE TABLE workspaces (
  id TEXT NOT NULL PRIMARY KEY,
  title TEXT NOT NULL,
  description TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL
) STRICT;

CREATE INDEX workspaces_updated ON workspaces (updated, id);

CREATE TABLE documents (
  key TEXT NOT NULL PRIMARY KEY,
  hash TEXT NOT NULL, -- SHA-256 of the content in hexadecimal, the name of its file
  size INTEGER NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  kept INTEGER NOT NULL -- when it was kept for what does not refer to it yet; 0 is nothing
) STRICT;

CREATE TABLE items (
  id INTEGER NOT NULL PRIMARY KEY,
  workspace TEXT NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  document TEXT NOT NULL REFERENCES documents (key),
  name TEXT NOT NULL,
  collection TEXT NOT NULL,
  pinned INTEGER NOT NULL,
  added INTEGER NOT NULL,
  UNIQUE (workspace, document)
) STRICT;

CREATE INDEX items_document ON items (document);

-- What the entries of a thread refer to, which may be a content that was never kept
-- here.
CREATE TABLE thread_documents (
  thread TEXT NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  document TEXT NOT NULL,
  PRIMARY KEY (document, thread)
) STRICT, WITHOUT ROWID;

CREATE INDEX thread_documents_thread ON thread_documents (thread);
