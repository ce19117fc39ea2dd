-- Rivers of a term, whoever's: the first use of a tag concerns those that were
-- opened before there was such a timeline.
CREATE INDEX rivers_term_idx ON rivers (kind, term) WHERE term <> '';
