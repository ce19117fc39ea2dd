DROP INDEX rivers_user_idx;
