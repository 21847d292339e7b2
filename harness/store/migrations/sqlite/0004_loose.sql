-- kept is 1 from when something that refers to a content is deleted until it is known
-- whether something else does. So 0 is only what something refers to.
CREATE INDEX documents_kept ON documents (kept) WHERE kept > 0;
CREATE INDEX documents_hash ON documents (hash);

UPDATE documents SET kept = 1 WHERE kept = 0
  AND NOT EXISTS (SELECT 1 FROM items WHERE items.document = documents.key)
  AND NOT EXISTS (SELECT 1 FROM thread_documents WHERE thread_documents.document = documents.key);
