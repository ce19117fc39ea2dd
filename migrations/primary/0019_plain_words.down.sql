-- What was indexed stays so: its words are found all the same, and the function of
-- before fails at some of the texts that were taken meanwhile.
DROP TRIGGER text_marks_gone ON text_marks;
DROP TRIGGER text_marks_made ON text_marks;
DROP FUNCTION index_text_tags;
CREATE OR REPLACE FUNCTION index_post_text() RETURNS trigger LANGUAGE plpgsql AS $$
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

CREATE OR REPLACE FUNCTION index_comment_text() RETURNS trigger LANGUAGE plpgsql AS $$
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

DROP FUNCTION search_tags;
CREATE OR REPLACE FUNCTION search_lexemes(author_id bigint, body text) RETURNS tsvector
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
