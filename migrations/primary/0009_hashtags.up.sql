-- Hashtags: a timeline for every term anybody has used, made on its first use.
ALTER TABLE timelines DROP CONSTRAINT timelines_kind, ADD CONSTRAINT timelines_kind CHECK (kind IN
    ('feed', 'subfeed', 'eyes', 'directs', 'group', 'likes', 'comments', 'discussions', 'faves', 'post', 'everything', 'hashtag'));

CREATE TABLE text_marks (
    post_id     bigint NOT NULL CONSTRAINT text_marks_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id  bigint NOT NULL,
    timeline_id bigint NOT NULL CONSTRAINT text_marks_timeline_fkey REFERENCES timelines ON DELETE CASCADE,
    CONSTRAINT text_marks_pkey PRIMARY KEY (post_id, comment_id, timeline_id)
);
COMMENT ON TABLE text_marks IS 'into which timelines the tags of a post''s texts bring it, by text: the post leaves one when the last text that named it goes. Kept beside the bodies so that nobody reads thousands of comments to learn that';
COMMENT ON COLUMN text_marks.comment_id IS 'the comment; 0 is the post''s own text';
