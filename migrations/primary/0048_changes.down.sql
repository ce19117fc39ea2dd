DROP TRIGGER access_changed ON access_log;
DROP TRIGGER posts_changed ON posts;
DROP TRIGGER posts_made ON posts;
DROP FUNCTION access_to_outbox();
DROP FUNCTION post_to_outbox();
DROP TABLE changes;
DROP TABLE changes_head;
DROP TABLE outbox;
