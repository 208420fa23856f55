-- Leads from a company to the ids of whom it employs, without a look at them; and to who of them has the same name.
CREATE INDEX person_by_company_and_name ON person (workspace_id, company_id, name_key, id) WHERE company_id IS NOT NULL;

-- Leads to who was changed at some time.
CREATE INDEX person_by_update ON person (workspace_id, updated_at, id);

DROP INDEX person_by_name_at_company;
