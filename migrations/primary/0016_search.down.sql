DROP TRIGGER comments_text_changed ON comments;
DROP TRIGGER comments_text_made ON comments;
DROP TRIGGER posts_text_changed ON posts;
DROP TRIGGER posts_text_made ON posts;
DROP TABLE texts;
DROP FUNCTION index_comment_text;
DROP FUNCTION index_post_text;
DROP FUNCTION search_lexemes;
