-- Finds whom a company employs, and who of them has the same name.
CREATE INDEX person_by_name_at_company ON person (workspace_id, company_id, name_key) WHERE company_id IS NOT NULL;
DROP INDEX person_by_company;

DELETE FROM sqlite_stat1 WHERE idx = 'person_by_company';
INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES
    ('person', 'person_by_name_at_company', '1000000 1000000 20 1');

ANALYZE sqlite_schema;
