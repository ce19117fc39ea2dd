ALTER TABLE drafts DROP COLUMN listing;
