-- The key of the caller that has another value; none for a provider.
ALTER TABLE proposal ADD COLUMN proposed_by BLOB;

-- The number of the kind of identifier by which a create found the person.
ALTER TABLE idempotent_answer ADD COLUMN matched_by INTEGER;
