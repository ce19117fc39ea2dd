-- What was indexed stays so: its words are found all the same, and the function of
-- before fails at some of the texts that were taken meanwhile.
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
