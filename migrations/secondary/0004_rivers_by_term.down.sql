DROP INDEX rivers_term_idx;
