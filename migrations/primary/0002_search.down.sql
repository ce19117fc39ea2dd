DROP INDEX accounts_lexemes_idx;
DROP TRIGGER text_marks_gone ON text_marks;
DROP TRIGGER text_marks_made ON text_marks;
DROP TRIGGER comments_text_changed ON comments;
DROP TRIGGER comments_text_made ON comments;
DROP TRIGGER posts_text_changed ON posts;
DROP TRIGGER posts_text_made ON posts;
DROP TABLE texts;
DROP FUNCTION account_lexemes, index_text_tags, index_comment_text, index_post_text, search_tags, search_lexemes;
