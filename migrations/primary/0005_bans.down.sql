DROP TABLE show_banned, bans;
