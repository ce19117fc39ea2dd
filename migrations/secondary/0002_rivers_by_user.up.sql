-- One account's rivers, whatever their state: each change looks up those of who
-- made it, and a replace also the retired ones a page is still open on. The
-- partial indexes by name do not serve a join.
CREATE INDEX rivers_user_idx ON rivers (user_id);
