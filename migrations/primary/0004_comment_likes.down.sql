DROP TABLE comment_likes;
