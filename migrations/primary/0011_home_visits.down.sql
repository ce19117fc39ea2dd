DROP TABLE home_visits;
