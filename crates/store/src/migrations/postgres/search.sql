-- The index of words, and what is to be put into it.

-- Persons whose words are to be taken anew.
CREATE TABLE search_queue (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
);

-- The words of a person. Every word begins with its workspace, and then how much it says.
CREATE TABLE search_document (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    words tsvector NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
);

CREATE INDEX search_document_by_word ON search_document USING gin (words);

-- An index of words by segments, each made of many persons at once: what very many have is found in
-- it together.

-- Who is in no segment as they are now. A new stamp says that they changed again.
CREATE TABLE search_tail (
    workspace_id bigint NOT NULL,
    person_id uuid NOT NULL,
    stamp bigint NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
);

CREATE TABLE search_segment (
    workspace_id bigint NOT NULL,
    number bigint NOT NULL,
    persons bigint NOT NULL,
    -- How long all texts are that it was made of.
    bytes bigint NOT NULL,
    first_id uuid NOT NULL,
    last_id uuid NOT NULL,
    -- Somebody may be in it who was erased.
    is_outdated boolean NOT NULL DEFAULT FALSE,
    PRIMARY KEY (workspace_id, number)
);

-- The words of a segment that begin with the same letters, with the places of those who have them.
CREATE TABLE search_posting (
    workspace_id bigint NOT NULL,
    segment bigint NOT NULL,
    letters text COLLATE "C" NOT NULL,
    words bytea NOT NULL,
    PRIMARY KEY (workspace_id, segment, letters)
);

ALTER TABLE search_posting ALTER COLUMN words SET STORAGE EXTERNAL;

-- Who has the places of a segment, 64 of them in a row.
CREATE TABLE search_place (
    workspace_id bigint NOT NULL,
    segment bigint NOT NULL,
    block bigint NOT NULL,
    ids bytea NOT NULL,
    PRIMARY KEY (workspace_id, segment, block)
);

-- Counts the segments that were stored, and what makes those useless that are being made: that
-- others were, or that somebody was erased. A segment has the number that it was when it was
-- stored.
CREATE TABLE search_generation (
    workspace_id bigint NOT NULL PRIMARY KEY,
    number bigint NOT NULL
);

-- Words that were never put into the tail. They are taken anew one after the other. The workspace
-- is hidden from the primary key, which would lead to all.
CREATE INDEX search_document_unknown_to_segments ON search_document ((workspace_id + 0), person_id) WHERE NOT words @@ '''=s'''::tsquery;
