-- Rivers of a term, whoever's: the first use of a tag concerns those that were
-- opened before there was such a timeline.
CREATE INDEX rivers_term_idx ON rivers (kind, term) WHERE term <> '';

-- Rivers of an account's pages, whoever's: a feed that comes or goes changes them.
CREATE INDEX rivers_their_idx ON rivers (their_id);
