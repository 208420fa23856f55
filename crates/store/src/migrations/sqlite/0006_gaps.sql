-- Places on a job are not given again when a candidate is taken off it: candidate_count is the number of the last place from now on, and
-- removed_count how many before it stand empty. How many those are is known of each stretch of 1,024 places that has such, so that a page by
-- offset is found without counting.
ALTER TABLE job ADD COLUMN removed_count INTEGER NOT NULL DEFAULT 0;

CREATE TABLE candidate_gap (
    workspace_id INTEGER NOT NULL,
    job_id BLOB NOT NULL,
    stretch INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (workspace_id, job_id, stretch),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id)
) STRICT, WITHOUT ROWID;

INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('candidate_gap', 'candidate_gap', '10000 10000 100 1');

ANALYZE sqlite_schema;
