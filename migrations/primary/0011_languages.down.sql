ALTER TABLE posts DROP COLUMN lang, DROP COLUMN lang_chosen;
