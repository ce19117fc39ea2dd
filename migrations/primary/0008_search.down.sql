DROP INDEX comments_search_idx;
DROP INDEX posts_search_idx;
DROP FUNCTION search_lexemes;
