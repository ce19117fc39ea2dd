ALTER TABLE posts DROP COLUMN lang_guessed;
