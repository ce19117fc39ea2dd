DROP INDEX accounts_lexemes_idx;
DROP FUNCTION account_lexemes;
