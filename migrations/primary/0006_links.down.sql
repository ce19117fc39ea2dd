DROP TABLE post_links, links;
