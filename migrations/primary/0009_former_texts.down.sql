DROP TABLE former_texts;
