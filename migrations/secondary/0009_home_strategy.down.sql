DROP TABLE home_strategy;
