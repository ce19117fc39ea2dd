DROP INDEX rivers_their_idx;
DROP INDEX rivers_term_idx;
