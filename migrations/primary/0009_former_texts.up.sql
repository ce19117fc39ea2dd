-- What a post said before it was edited, for its author.
CREATE TABLE former_texts (
    post_id     bigint      NOT NULL CONSTRAINT former_texts_post_fkey REFERENCES posts ON DELETE CASCADE,
    replaced_at timestamptz NOT NULL,
    body        text        NOT NULL,
    CONSTRAINT former_texts_pkey PRIMARY KEY (post_id, replaced_at)
);
COMMENT ON TABLE former_texts IS 'the last texts of a post before the present one; only its author reads them. They are removed with the post''s text. Whether they have markup is as with the post: an edit does not change that';
