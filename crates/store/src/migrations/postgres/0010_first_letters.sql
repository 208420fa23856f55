-- Vectors that lack the first letters of their words: all of them now, and later those that a server of an older version wrote. They are indexed anew
-- one after the other. The workspace is hidden from the primary key, which would lead to all vectors.
CREATE INDEX search_document_without_letters ON search_document ((workspace_id + 0), person_id) WHERE NOT words @@ '''=l'''::tsquery;
