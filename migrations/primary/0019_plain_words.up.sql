-- Texts are plain, and PostgreSQL's parser does not believe it: it takes what
-- stands between < and > for a tag, which no search then finds, cats/dogs for a
-- path and cats.Dogs for a host, each one lexeme, and the 19 of covid-19 for a
-- number below nought. Nor is it, or normalize, made for what people may send: a
-- hundred kilobytes of <!-- cost it 23 seconds, and as many accents on one letter
-- cost 27, in the trigger, under the lock of the post.
--
-- Addresses are taken apart like everything else: whether what somebody asks for
-- is part of one is not known when they ask.
LOCK TABLE posts, comments IN SHARE ROW EXCLUSIVE MODE;

CREATE OR REPLACE FUNCTION search_lexemes(author_id bigint, body text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    marks text[] := ARRAY['@' || author_id];
    apart CONSTANT text := '<>&/.+~@_';
    blank CONSTANT text := repeat(' ', length(apart));
    plain text;
BEGIN
    -- What goes on for 255 characters without a space is divided there, before it is
    -- normalized and before anything looks for the end of it.
    plain := regexp_replace(translate(body, apart, blank), '\S{255}', '\& ', 'g');
    plain := translate(normalize(plain, NFKC), apart, blank);
    IF strpos(body, '#') > 0 THEN
        marks := marks || ARRAY(
            SELECT DISTINCT normalize(lower(m[1]), NFKC)
            FROM regexp_matches(regexp_replace(normalize(body, NFKC), 'https?://\S+', ' ', 'g'),
                '(?:^|[\s(\[{"''«“‘„,;:!?/—–-])(#[[:alnum:]_]{1,50})(?![[:alnum:]_])', 'g') m);
    END IF;
    RETURN to_tsvector('pg_catalog.russian'::regconfig, regexp_replace(plain, '-(?=[0-9])', ' ', 'g'))
        || array_to_tsvector(marks);
END $$;
COMMENT ON FUNCTION search_lexemes IS 'what search finds a text by: its words, as timelines/query.go takes them apart too; its tags, with their #, which no word begins with; its author as @ and the id, so that one index finds what somebody wrote of something. timelines/asks.go asks in the same words';

DROP INDEX texts_lexemes_idx;
TRUNCATE texts;
INSERT INTO texts (post_id, comment_id, author_id, lexemes)
SELECT id, 0, author_id, search_lexemes(author_id, body) FROM posts WHERE deleted_at IS NULL
UNION ALL
SELECT c.post_id, c.id, c.author_id, search_lexemes(c.author_id, c.body)
FROM comments c JOIN posts p ON p.id = c.post_id WHERE c.deleted_at IS NULL AND p.deleted_at IS NULL;
CREATE INDEX texts_lexemes_idx ON texts USING gin (lexemes);
