-- An older riverrun would let these sign in, and could not show them to anybody.
INSERT INTO suspensions (account_id, reason)
SELECT account_id, 'not let in yet' FROM applications ON CONFLICT DO NOTHING;
DROP TABLE applications, invited, invitation_groups, invitations;
