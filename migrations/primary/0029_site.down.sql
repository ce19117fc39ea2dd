ALTER TABLE accounts DROP COLUMN rules_agreed;
ALTER TABLE site DROP COLUMN mark;
