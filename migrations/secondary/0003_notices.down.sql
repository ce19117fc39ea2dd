DROP TABLE notice_clocks;
