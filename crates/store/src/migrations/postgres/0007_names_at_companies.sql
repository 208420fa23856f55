-- Finds whom a company employs, and who of them has the same name.
CREATE INDEX person_by_name_at_company ON person (workspace_id, company_id, name_key) WHERE company_id IS NOT NULL;
DROP INDEX person_by_company;
