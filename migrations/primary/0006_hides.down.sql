DROP TABLE hidden_terms, hidden_accounts, hidden_posts;
