-- Full text of posts and comments, in Russian and English: the configuration
-- 'russian' stems words of Latin letters in English. Tags stand beside the words
-- as lexemes of their own, with their #, so that #tag is not the word tag.
CREATE FUNCTION search_lexemes(body text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 SET search_path = pg_catalog, pg_temp
RETURN to_tsvector('pg_catalog.russian'::regconfig, body) || array_to_tsvector(ARRAY(
    SELECT DISTINCT translate(lower(m[1]), 'ё', 'е')
    FROM regexp_matches(body, '(?:^|[^[:alnum:]_&/#])(#[[:alnum:]_]+)', 'g') m));
COMMENT ON FUNCTION search_lexemes IS 'what search finds a text by; timelines/search.go asks in the same words';

CREATE INDEX posts_search_idx ON posts USING gin (search_lexemes(body)) WHERE deleted_at IS NULL;
CREATE INDEX comments_search_idx ON comments USING gin (search_lexemes(body)) WHERE deleted_at IS NULL;
