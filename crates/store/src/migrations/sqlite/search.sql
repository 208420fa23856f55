-- The index of words, and what is to be put into it.

-- Persons whose words are to be taken anew.
CREATE TABLE search_queue (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;

-- The words of a person as they stand in the index: what is to leave the index must be told to it.
CREATE TABLE search_document (
    number INTEGER NOT NULL PRIMARY KEY,
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    words TEXT NOT NULL,
    UNIQUE (workspace_id, person_id)
) STRICT;

-- Every word begins with its workspace, and then how much it says.
CREATE VIRTUAL TABLE search_word USING fts5 (
    words, content = '', columnsize = 0, detail = none, tokenize = "ascii tokenchars '='"
);

-- Words that left the index stay in its pages until those are merged. That is waited for where
-- somebody was erased.
CREATE TABLE search_merge (
    wanted_at INTEGER NOT NULL PRIMARY KEY
) STRICT;

-- An index of words by segments, each made of many persons at once: what very many have is found in
-- it together.

-- Who is in no segment as they are now. A new stamp says that they changed again.
CREATE TABLE search_tail (
    workspace_id INTEGER NOT NULL,
    person_id BLOB NOT NULL,
    stamp INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, person_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE search_segment (
    workspace_id INTEGER NOT NULL,
    number INTEGER NOT NULL,
    persons INTEGER NOT NULL,
    -- How long all texts are that it was made of.
    bytes INTEGER NOT NULL,
    first_id BLOB NOT NULL,
    last_id BLOB NOT NULL,
    -- Somebody may be in it who was erased.
    is_outdated INTEGER NOT NULL DEFAULT FALSE,
    PRIMARY KEY (workspace_id, number)
) STRICT, WITHOUT ROWID;

-- The words of a segment that begin with the same letters, with the places of those who have them.
CREATE TABLE search_posting (
    workspace_id INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    letters TEXT NOT NULL,
    words BLOB NOT NULL,
    PRIMARY KEY (workspace_id, segment, letters)
) STRICT;

-- Who has the places of a segment, 64 of them in a row.
CREATE TABLE search_place (
    workspace_id INTEGER NOT NULL,
    segment INTEGER NOT NULL,
    block INTEGER NOT NULL,
    ids BLOB NOT NULL,
    PRIMARY KEY (workspace_id, segment, block)
) STRICT, WITHOUT ROWID;

-- Counts the segments that were stored, and what makes those useless that are being made: that
-- others were, or that somebody was erased. A segment has the number that it was when it was
-- stored.
CREATE TABLE search_generation (
    workspace_id INTEGER NOT NULL PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
