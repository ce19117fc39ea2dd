-- The directories of people and of groups, by what people read there.
CREATE INDEX accounts_kind_title_idx ON accounts (kind, lower(title), name);
