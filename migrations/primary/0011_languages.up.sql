-- The language of a post, by which the aggregates are told apart.
ALTER TABLE posts
    ADD COLUMN lang_chosen boolean NOT NULL DEFAULT false,
    ADD COLUMN lang text NOT NULL DEFAULT '' CONSTRAINT posts_lang CHECK (lang ~ '^([a-z]{2})?$');
COMMENT ON COLUMN posts.lang IS 'ISO 639-1, of the languages posts are told apart by; empty: none of them, or not surely';
COMMENT ON COLUMN posts.lang_chosen IS 'the author said so; else it was found out from the text, and is again with each edit';
