-- What the summary of a workspace is made of.
CREATE INDEX items_collection ON items (workspace, collection);
CREATE INDEX items_pinned ON items (workspace, id) WHERE pinned;
