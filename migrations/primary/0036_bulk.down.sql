DROP TABLE bulk_acts;
