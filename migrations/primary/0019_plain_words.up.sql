-- Texts are plain, and PostgreSQL's parser does not believe it: it takes what
-- stands between < and > for a tag, which no search then finds, cats/dogs for a
-- path and cats.Dogs for a host, each one lexeme, and the 19 of covid-19 for a
-- number below nought. Nor is it, or normalize, made for what people may send: a
-- hundred kilobytes of <!-- cost it 23 seconds, and as many accents on one letter
-- cost 27, in the trigger, under the lock of the post.
--
-- Addresses are taken apart like everything else: whether what somebody asks for
-- is part of one is not known when they ask.
--
-- As much as normalizing may make of a text, eleven times its bytes, is no tsvector
-- any more, which ends at a megabyte. The first 110,000 characters always are one,
-- words joined by hyphens, which stand in it whole and in parts, included; of a text
-- that grows but where it is divided, they are all.
LOCK TABLE posts, comments, text_marks IN SHARE ROW EXCLUSIVE MODE;

CREATE OR REPLACE FUNCTION search_lexemes(author_id bigint, body text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    apart CONSTANT text := '<>&/.+~@_';
    blank CONSTANT text := repeat(' ', length(apart));
    plain text;
BEGIN
    -- What goes on for 255 characters without a space is divided there, before it is
    -- normalized and before anything looks for the end of it.
    plain := regexp_replace(translate(body, apart, blank), '\S{255}', '\& ', 'g');
    plain := translate(left(normalize(plain, NFKC), 110000), apart, blank);
    RETURN to_tsvector('pg_catalog.russian'::regconfig, regexp_replace(plain, '-(?=[0-9])', ' ', 'g'))
        || array_to_tsvector(ARRAY['@' || author_id]);
END $$;
COMMENT ON FUNCTION search_lexemes IS 'what search finds a text by but for its tags: its words, as timelines/query.go takes them apart too; its author as @ and the id, so that one index finds what somebody wrote of something';

-- The tags of a text are those in whose timelines it brings its post, and package
-- marks alone says which these are. So they come from text_marks, which is written
-- after the text.
CREATE FUNCTION search_tags(of_post_id bigint, of_comment_id bigint) RETURNS tsvector LANGUAGE sql STABLE AS $$
    SELECT array_to_tsvector(ARRAY(
        SELECT '#' || t.term FROM text_marks m JOIN timelines t ON t.id = m.timeline_id
        WHERE m.post_id = of_post_id AND m.comment_id = of_comment_id AND t.kind = 'hashtag'))
$$;
COMMENT ON FUNCTION search_tags IS 'the tags search finds a text by, with their #, which no word begins with. timelines/asks.go asks in the same words';

CREATE OR REPLACE FUNCTION index_post_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NOT NULL THEN
        DELETE FROM texts WHERE post_id = NEW.id;
    ELSE
        INSERT INTO texts (post_id, comment_id, author_id, lexemes)
        VALUES (NEW.id, 0, NEW.author_id, search_lexemes(NEW.author_id, NEW.body) || search_tags(NEW.id, 0))
        ON CONFLICT (post_id, comment_id) DO UPDATE SET lexemes = excluded.lexemes;
    END IF;
    RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION index_comment_text() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.deleted_at IS NOT NULL THEN
        DELETE FROM texts WHERE post_id = NEW.post_id AND comment_id = NEW.id;
    ELSE
        INSERT INTO texts (post_id, comment_id, author_id, lexemes)
        VALUES (NEW.post_id, NEW.id, NEW.author_id, search_lexemes(NEW.author_id, NEW.body) || search_tags(NEW.post_id, NEW.id))
        ON CONFLICT (post_id, comment_id) DO UPDATE SET lexemes = excluded.lexemes;
    END IF;
    RETURN NULL;
END $$;

CREATE FUNCTION index_text_tags() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE texts x SET lexemes = CASE TG_OP
        WHEN 'INSERT' THEN x.lexemes || array_to_tsvector(c.tags)
        ELSE ts_delete(x.lexemes, c.tags) END
    FROM (
        SELECT m.post_id, m.comment_id, array_agg('#' || t.term) AS tags
        FROM changed m JOIN timelines t ON t.id = m.timeline_id WHERE t.kind = 'hashtag' GROUP BY 1, 2
    ) c
    WHERE x.post_id = c.post_id AND x.comment_id = c.comment_id;
    RETURN NULL;
END $$;

DROP INDEX texts_lexemes_idx;
TRUNCATE texts;
INSERT INTO texts (post_id, comment_id, author_id, lexemes)
SELECT id, 0, author_id, search_lexemes(author_id, body) || search_tags(id, 0) FROM posts WHERE deleted_at IS NULL
UNION ALL
SELECT c.post_id, c.id, c.author_id, search_lexemes(c.author_id, c.body) || search_tags(c.post_id, c.id)
FROM comments c JOIN posts p ON p.id = c.post_id WHERE c.deleted_at IS NULL AND p.deleted_at IS NULL;
CREATE INDEX texts_lexemes_idx ON texts USING gin (lexemes);

CREATE TRIGGER text_marks_made AFTER INSERT ON text_marks
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION index_text_tags();
CREATE TRIGGER text_marks_gone AFTER DELETE ON text_marks
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION index_text_tags();
