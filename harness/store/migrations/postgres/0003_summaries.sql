-- Collections come byte by byte, as in SQLite.
ALTER TABLE items ALTER COLUMN collection TYPE text COLLATE "C";

-- What the summary of a workspace is made of.
CREATE INDEX items_collection ON items (workspace, collection);
CREATE INDEX items_pinned ON items (workspace, id) WHERE pinned;
