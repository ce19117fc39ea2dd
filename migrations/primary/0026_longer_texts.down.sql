-- Fails where there are texts that were too long before: none is cut.
ALTER TABLE comments DROP CONSTRAINT comments_body, ADD CONSTRAINT comments_body CHECK (octet_length(body) <= 20000);
ALTER TABLE posts DROP CONSTRAINT posts_body, ADD CONSTRAINT posts_body CHECK (octet_length(body) <= 100000);
