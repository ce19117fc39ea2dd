-- A site of one's own: its mark, and which rules people have agreed to.

ALTER TABLE site ADD COLUMN mark text NOT NULL DEFAULT '' CONSTRAINT site_mark CHECK (length(mark) <= 16);
COMMENT ON COLUMN site.mark IS 'one or two characters, or an emoji, that stand for the site; empty: the picture of riverrun';

ALTER TABLE accounts ADD COLUMN rules_agreed integer NOT NULL DEFAULT 0;
COMMENT ON COLUMN accounts.rules_agreed IS 'the site.rules_version that the person agreed to; 0: none';
