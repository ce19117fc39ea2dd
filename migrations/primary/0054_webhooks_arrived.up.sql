-- When an address of a webhook took a delivery last, for its owner.

ALTER TABLE webhooks ADD COLUMN arrived_at timestamptz;
COMMENT ON COLUMN webhooks.arrived_at IS 'when the address took a delivery last';
