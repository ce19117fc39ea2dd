DROP TABLE post_states;
