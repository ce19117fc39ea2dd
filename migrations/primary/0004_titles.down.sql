DROP INDEX accounts_kind_title_idx;
