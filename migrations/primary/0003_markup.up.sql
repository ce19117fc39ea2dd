-- Texts written from now on may have markup (timelines/markup); older ones are plain.
ALTER TABLE posts ADD COLUMN markup boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN posts.markup IS 'the text is read as markup; texts from before there was any, and imported ones, are plain and stay so when they are edited';
ALTER TABLE comments ADD COLUMN markup boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN comments.markup IS 'as posts.markup';
