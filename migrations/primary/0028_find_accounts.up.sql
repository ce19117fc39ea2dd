-- People and groups are found by the beginnings of the words of their names and titles.
-- ё counts as е, because many people write it so.
CREATE FUNCTION account_lexemes(name text, title text) RETURNS tsvector
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE COST 1000 SET search_path = pg_catalog, pg_temp AS $$
    SELECT to_tsvector('pg_catalog.simple'::regconfig,
        translate(normalize(name || ' ' || title, NFKC), 'ёЁ<>&/.+~@_-''', 'еЕ' || repeat(' ', 11)))
$$;
COMMENT ON FUNCTION account_lexemes IS 'what an account is found by: the words of its name and title, taken apart at what the parser would keep together; timelines/findaccounts.go asks in the same words';
CREATE INDEX accounts_lexemes_idx ON accounts USING gin (account_lexemes(name, title));
