-- How many pictures of an owner wait: those of one who has many of them wait for the others'.
CREATE INDEX files_waiting_idx ON files (owner_id) WHERE state = 'waiting';
