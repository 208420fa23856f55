-- Words that were never put into the tail: all of them now, and later those that a server of an older version wrote. They are taken anew one after the
-- other. The workspace is hidden from the primary key, which would lead to all.
CREATE INDEX search_document_unknown_to_segments ON search_document ((workspace_id + 0), person_id) WHERE NOT words @@ '''=s'''::tsquery;
