DROP TRIGGER comments_text_made ON comments;
CREATE TRIGGER comments_text_made AFTER INSERT ON comments FOR EACH ROW EXECUTE FUNCTION index_comment_text();
DROP FUNCTION index_new_comments;
DROP TRIGGER posts_text_made ON posts;
CREATE TRIGGER posts_text_made AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION index_post_text();
DROP FUNCTION index_new_posts;
CREATE OR REPLACE FUNCTION search_lexemes(author_id bigint, body text) RETURNS tsvector
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    apart CONSTANT text := '<>&/.+~@_';
    blank CONSTANT text := repeat(' ', length(apart));
    plain text;
BEGIN
    -- A run of 255 characters without a space is divided, before it is normalized and
    -- before anything looks for the end of it.
    plain := regexp_replace(translate(body, apart, blank), '\S{255}', '\& ', 'g');
    plain := translate(left(normalize(plain, NFKC), 110000), apart, blank);
    RETURN to_tsvector('pg_catalog.russian'::regconfig, regexp_replace(plain, '-(?=[0-9])', ' ', 'g'))
        || array_to_tsvector(ARRAY['@' || author_id]);
END $$;
