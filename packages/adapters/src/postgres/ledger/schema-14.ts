/** Who wants to be told of what happens, and what they are told. */
export const SCHEMA_14 = `
CREATE TABLE webhooks (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  name text NOT NULL,
  url text NOT NULL,
  events text NOT NULL,
  user_id text,
  app_id text,
  active bigint NOT NULL,
  secret text NOT NULL,
  previous_secret text,
  previous_until bigint,
  created_at bigint NOT NULL,
  updated_at bigint NOT NULL,
  failures bigint NOT NULL DEFAULT 0,
  failing_since bigint,
  held_until bigint NOT NULL DEFAULT 0,
  last_error text,
  paused_at bigint
);
CREATE INDEX webhooks_of_tenant ON webhooks (tenant, created_at, id);

CREATE TABLE webhook_deliveries (
  seq bigserial PRIMARY KEY,
  id text NOT NULL UNIQUE,
  webhook text NOT NULL REFERENCES webhooks (id),
  tenant text NOT NULL,
  lane text NOT NULL,
  subject text NOT NULL,
  event_id text NOT NULL,
  type text NOT NULL,
  body text NOT NULL,
  state text NOT NULL,
  attempts bigint NOT NULL DEFAULT 0,
  attempts_before bigint NOT NULL DEFAULT 0,
  due_at bigint NOT NULL,
  created_at bigint NOT NULL,
  ended_at bigint,
  status bigint,
  error text
);
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, subject, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (state) WHERE state <> 'delivered';
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook, created_at, id);
CREATE INDEX webhook_deliveries_of_lane ON webhook_deliveries (lane, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
ALTER TABLE webhooks ALTER name SET STATISTICS 0, ALTER url SET STATISTICS 0, ALTER user_id SET STATISTICS 0,
  ALTER app_id SET STATISTICS 0, ALTER secret SET STATISTICS 0, ALTER previous_secret SET STATISTICS 0,
  ALTER last_error SET STATISTICS 0;
ALTER TABLE webhook_deliveries ALTER body SET STATISTICS 0, ALTER error SET STATISTICS 0;
`;
