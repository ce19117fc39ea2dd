DROP TABLE strangers;
