ALTER TABLE accounts DROP COLUMN picture;
DROP TABLE file_blobs, files;
