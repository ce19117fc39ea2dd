-- How search finds posts, comments and accounts.

-- Full text of posts and comments, in Russian and English: the configuration 'russian'
-- stems words of Latin letters in English.
--
-- It stands in a table of its own, and not in expression indexes on posts and comments.
-- A like changes the version of its post's row. Wherever the new row does not fit into
-- its page, all indexes of the row are written again, and an index of the text would
-- write the whole text. Besides, a query that looks at the words themselves (a phrase, a
-- text that just changed) would compute them anew each time.
CREATE TABLE texts (
    post_id    bigint   NOT NULL CONSTRAINT texts_post_fkey REFERENCES posts ON DELETE CASCADE,
    comment_id bigint   NOT NULL,
    author_id  bigint   NOT NULL,
    lexemes    tsvector NOT NULL,
    CONSTRAINT texts_pkey PRIMARY KEY (post_id, comment_id)
);
COMMENT ON TABLE texts IS 'the text of posts and comments as search finds it; kept by their triggers, whatever writes them';
COMMENT ON COLUMN texts.comment_id IS '0: the post''s own text';
CREATE INDEX texts_lexemes_idx ON texts USING gin (lexemes);

-- Texts are plain, and PostgreSQL's parser does not believe it. It takes what stands
-- between < and > for a tag, which no search then finds, cats/dogs for a path and
-- cats.Dogs for a host, each one lexeme, and the 19 of covid-19 for a number below
-- nought. Nor is the parser, or normalize, made for everything that people may send: a
-- hundred kilobytes of <!-- cost it 23 seconds, as many accents on one letter cost 27,
-- and as many words joined by hyphens cost 12, in the trigger, under the lock of the post.
--
-- Addresses are taken apart like everything else: a search does not know whether one of
-- its words is part of an address.
--
-- Normalizing can make a text eleven times as long in bytes, and a tsvector ends at a
-- megabyte. The first 110,000 characters always fit into one, even words joined by
-- hyphens, which stand in it whole and in parts. They are all characters of any text
-- that only grows where it is divided.
CREATE FUNCTION search_lexemes(author_id bigint, body text) RETURNS tsvector
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
COMMENT ON FUNCTION search_lexemes IS 'all that search finds a text by, except its tags: its words, taken apart as in timelines/snapshot/query.go; its author as @ and the id, so that one index finds what one author wrote of something';

-- The tags of a text are those in whose timelines it brings its post, and package marks
-- alone says which these are. So they come from text_marks, which is written after the
-- text.
CREATE FUNCTION search_tags(of_post_id bigint, of_comment_id bigint) RETURNS tsvector LANGUAGE sql STABLE AS $$
    SELECT array_to_tsvector(ARRAY(
        SELECT '#' || t.term FROM text_marks m JOIN timelines t ON t.id = m.timeline_id
        WHERE m.post_id = of_post_id AND m.comment_id = of_comment_id AND t.kind = 'hashtag'))
$$;
COMMENT ON FUNCTION search_tags IS 'the tags that search finds a text by, with their #, which no word begins with; timelines/snapshot/asks.go writes them in the same way';

CREATE FUNCTION index_post_text() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER posts_text_made AFTER INSERT ON posts FOR EACH ROW EXECUTE FUNCTION index_post_text();
CREATE TRIGGER posts_text_changed AFTER UPDATE OF body, deleted_at ON posts FOR EACH ROW EXECUTE FUNCTION index_post_text();

CREATE FUNCTION index_comment_text() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE TRIGGER comments_text_made AFTER INSERT ON comments FOR EACH ROW EXECUTE FUNCTION index_comment_text();
CREATE TRIGGER comments_text_changed AFTER UPDATE OF body, deleted_at ON comments FOR EACH ROW EXECUTE FUNCTION index_comment_text();

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
CREATE TRIGGER text_marks_made AFTER INSERT ON text_marks
    REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION index_text_tags();
CREATE TRIGGER text_marks_gone AFTER DELETE ON text_marks
    REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION index_text_tags();

-- People and groups are found by the beginnings of the words of their names and titles.
-- ё counts as е, because many people write it so.
CREATE FUNCTION account_lexemes(name text, title text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_tsvector('pg_catalog.simple'::regconfig,
        translate(normalize(name || ' ' || title, NFKC), 'ёЁ<>&/.+~@_-''', 'еЕ' || repeat(' ', 11)))
$$;
COMMENT ON FUNCTION account_lexemes IS 'the words that an account is found by, of its name and title, taken apart where the parser would keep them together; timelines/findaccounts.go takes a search apart in the same way';
CREATE INDEX accounts_lexemes_idx ON accounts USING gin (account_lexemes(name, title));
