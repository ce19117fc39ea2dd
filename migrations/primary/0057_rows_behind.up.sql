ALTER TABLE posts ADD COLUMN rows_behind boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN posts.rows_behind IS 'a job is under way that lets rows of the post in filter timelines follow fresh_at: comments that come before it begins ask for no other';
