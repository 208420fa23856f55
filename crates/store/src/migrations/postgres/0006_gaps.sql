-- Places on a job are not given again when a candidate is taken off it: candidate_count is the number of the last place from now on, and
-- removed_count how many before it stand empty. How many those are is known of each stretch of 1,024 places that has such, so that a page by
-- offset is found without counting.
ALTER TABLE job ADD COLUMN removed_count bigint NOT NULL DEFAULT 0;

CREATE TABLE candidate_gap (
    workspace_id bigint NOT NULL,
    job_id uuid NOT NULL,
    stretch bigint NOT NULL,
    count bigint NOT NULL,
    PRIMARY KEY (workspace_id, job_id, stretch),
    FOREIGN KEY (workspace_id, job_id) REFERENCES job (workspace_id, id)
);
