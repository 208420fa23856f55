-- The first letters of a person's words, and the company, as numbers. The indexes follow in a step of their own, since nobody reads the table while it gets
-- a column.
ALTER TABLE search_document ADD COLUMN keys integer[];
