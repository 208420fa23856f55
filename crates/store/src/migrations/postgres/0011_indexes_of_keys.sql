-- Who has some keys is found without gathering every word that begins like them.
CREATE INDEX search_document_by_key ON search_document USING gin (keys);

-- Words without keys: all of them now, and later those that a server of an older version wrote. They are taken anew one after the other. The workspace is
-- hidden from the primary key, which would lead to all.
CREATE INDEX search_document_without_keys ON search_document ((workspace_id + 0), person_id) WHERE NOT words @@ '''=k'''::tsquery;
