-- Leads from a company to the ids of whom it employs, without a look at them.
DROP INDEX person_by_name_at_company;
CREATE INDEX person_by_name_at_company ON person (workspace_id, company_id, name_key, id) WHERE company_id IS NOT NULL;

-- Leads to who was changed at some time.
CREATE INDEX person_by_update ON person (workspace_id, updated_at, id);
