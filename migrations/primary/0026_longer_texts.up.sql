-- Texts are measured in characters, as forms do, which bytes were less than where they
-- are not Latin. Here the bytes that so many characters may take are bounded: to count
-- characters each change of a post would have to read its text.
ALTER TABLE posts DROP CONSTRAINT posts_body, ADD CONSTRAINT posts_body CHECK (octet_length(body) <= 400000);
ALTER TABLE comments DROP CONSTRAINT comments_body, ADD CONSTRAINT comments_body CHECK (octet_length(body) <= 80000);
