DROP TABLE scheduled_posts;
