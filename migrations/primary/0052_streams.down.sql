DROP TABLE streams;
