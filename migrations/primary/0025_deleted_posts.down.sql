-- What is deleted stays so.
SELECT 1;
