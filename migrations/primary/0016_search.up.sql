-- Full text of posts and comments, in Russian and English: the configuration
-- 'russian' stems words of Latin letters in English.
--
-- In a table of its own and not as expression indexes on posts and comments: a
-- like moves the version of its post's row, wherever that does not fit into its
-- page all indexes of the row are written again, and of the text's that would be
-- the whole text; and what has to look at the words themselves (a phrase, a text
-- that just changed) would make them anew each time.
--
-- What goes on for 255 characters without a space is divided there: the parser
-- takes 12 seconds for a hundred kilobytes of words joined by hyphens.
CREATE FUNCTION search_lexemes(author_id bigint, body text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    plain text := normalize(body, NFKC);
    marks text[] := ARRAY['@' || author_id];
BEGIN
    IF strpos(plain, '#') > 0 THEN
        marks := marks || ARRAY(
            SELECT DISTINCT normalize(lower(m[1]), NFKC)
            FROM regexp_matches(regexp_replace(plain, 'https?://\S+', ' ', 'g'),
                '(?:^|[\s(\[{"''«“‘„,;:!?/—–-])(#[[:alnum:]_]{1,50})(?![[:alnum:]_])', 'g') m);
    END IF;
    RETURN to_tsvector('pg_catalog.russian'::regconfig, regexp_replace(plain, '\S{255}', '\& ', 'g'))
        || array_to_tsvector(marks);
END $$;
COMMENT ON FUNCTION search_lexemes IS 'what search finds a text by: its words; its tags as package marks finds them, with their #, which no word begins with; its author as @ and the id, so that one index finds what somebody wrote of something. timelines/search.go asks in the same words';

CREATE TABLE texts (
    post_id    bigint   NOT NULL CONSTRAINT texts_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id bigint   NOT NULL,
    author_id  bigint   NOT NULL,
    lexemes    tsvector NOT NULL,
    CONSTRAINT texts_pkey PRIMARY KEY (post_id, comment_id)
);
COMMENT ON TABLE texts IS 'what stands to be read in posts and comments, as search finds it; kept by triggers of theirs, whoever writes them';
COMMENT ON COLUMN texts.comment_id IS '0: the post''s own text';

CREATE FUNCTION index_post_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NOT NULL THEN
        DELETE FROM texts WHERE post_id = NEW.id;
    ELSE
        INSERT INTO texts (post_id, comment_id, author_id, lexemes)
        VALUES (NEW.id, 0, NEW.author_id, search_lexemes(NEW.author_id, NEW.body))
        ON CONFLICT (post_id, comment_id) DO UPDATE SET lexemes = excluded.lexemes;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION index_comment_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NOT NULL THEN
        DELETE FROM texts WHERE post_id = NEW.post_id AND comment_id = NEW.id;
    ELSE
        INSERT INTO texts (post_id, comment_id, author_id, lexemes)
        VALUES (NEW.post_id, NEW.id, NEW.author_id, search_lexemes(NEW.author_id, NEW.body))
        ON CONFLICT (post_id, comment_id) DO UPDATE SET lexemes = excluded.lexemes;
    END IF;
    RETURN NULL;
END $$;

INSERT INTO texts (post_id, comment_id, author_id, lexemes)
SELECT id, 0, author_id, search_lexemes(author_id, body) FROM posts WHERE deleted_at IS NULL
UNION ALL
SELECT c.post_id, c.id, c.author_id, search_lexemes(c.author_id, c.body)
FROM comments c JOIN posts p ON p.id = c.post_id WHERE c.deleted_at IS NULL AND p.deleted_at IS NULL;

CREATE INDEX texts_lexemes_idx ON texts USING gin (lexemes);

CREATE TRIGGER posts_text_made AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION index_post_text();
CREATE TRIGGER posts_text_changed AFTER UPDATE OF body, deleted_at ON posts FOR EACH ROW EXECUTE FUNCTION index_post_text();
CREATE TRIGGER comments_text_made AFTER INSERT ON comments FOR EACH ROW EXECUTE FUNCTION index_comment_text();
CREATE TRIGGER comments_text_changed AFTER UPDATE OF body, deleted_at ON comments FOR EACH ROW EXECUTE FUNCTION index_comment_text();
