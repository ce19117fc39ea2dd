-- Nobody is both admitted and excluded, and who is excluded neither subscribes nor
-- asks to (timelines/readers.go). So it is for groups; of people's feeds exclusions
-- stood beside both, and counted at one level only. They are what counts.
DELETE FROM subscription_requests r USING excluded x, timelines t
WHERE t.id = x.timeline_id AND t.kind = 'feed' AND r.subscriber_id = x.account_id AND r.account_id = t.their_id;
DELETE FROM subscriptions s USING excluded x, timelines t
WHERE t.id = x.timeline_id AND t.kind = 'feed' AND s.subscriber_id = x.account_id AND s.account_id = t.their_id;
DELETE FROM readers r USING excluded x WHERE (r.timeline_id, r.account_id) = (x.timeline_id, x.account_id);
-- Nodes forget what they know of anybody.
UPDATE access_clock SET n = n + 1 WHERE EXISTS (SELECT FROM excluded);
