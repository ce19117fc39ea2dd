-- Short texts take the language that their author, or else their group, writes in.
ALTER TABLE posts ADD COLUMN lang_guessed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN posts.lang_guessed IS 'the text says too little of its language, which was taken from other posts of its author or group; so it says nothing of theirs';
