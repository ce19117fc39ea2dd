DROP TABLE counter_checks;
