DELETE FROM unseen_accounts WHERE cause = 'removal';
DROP TABLE removals, report_notes, reports;
