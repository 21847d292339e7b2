-- Times are microseconds since 1970, UTC. Ids are compared byte by byte.

CREATE TABLE projects (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  name text NOT NULL,
  instructions text NOT NULL,
  created bigint NOT NULL,
  updated bigint NOT NULL
);

CREATE TABLE project_dirs (
  dir bytea NOT NULL, -- a path need not be UTF-8
  project text COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
  position bigint NOT NULL
);

-- A path may be longer than what an index takes.
CREATE UNIQUE INDEX project_dirs_dir ON project_dirs (sha256(dir));
CREATE INDEX project_dirs_project ON project_dirs (project, position);

CREATE TABLE workspaces (
  id text COLLATE "C" NOT NULL PRIMARY KEY,
  title text NOT NULL,
  description text NOT NULL,
  created bigint NOT NULL,
  updated bigint NOT NULL
);

CREATE INDEX workspaces_updated ON workspaces (updated, id);

CREATE TABLE documents (
  key text COLLATE "C" NOT NULL PRIMARY KEY,
  hash text COLLATE "C" NOT NULL, -- SHA-256 of the content in hexadecimal, the name of its file
  size bigint NOT NULL,
  name text NOT NULL,
  type text NOT NULL,
  kept bigint NOT NULL -- when it was kept for what does not refer to it yet; 0 is nothing
);

CREATE TABLE items (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace text COLLATE "C" NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  document text COLLATE "C" NOT NULL REFERENCES documents (key),
  name text NOT NULL,
  collection text NOT NULL,
  pinned boolean NOT NULL,
  added bigint NOT NULL,
  UNIQUE (workspace, document)
);

CREATE INDEX items_document ON items (document);

-- What the entries of a thread refer to, which may be a content that was never kept
-- here.
CREATE TABLE thread_documents (
  thread text COLLATE "C" NOT NULL REFERENCES threads (id) ON DELETE CASCADE,
  document text COLLATE "C" NOT NULL,
  PRIMARY KEY (document, thread)
);

CREATE INDEX thread_documents_thread ON thread_documents (thread);
