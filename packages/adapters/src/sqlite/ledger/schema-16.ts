/** Who wants to be told of what happens, and what they are told. */
export const SCHEMA_16 = `
CREATE TABLE webhooks (
  id TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  name TEXT NOT NULL,
  url TEXT NOT NULL,
  events TEXT NOT NULL,
  user_id TEXT,
  app_id TEXT,
  active INTEGER NOT NULL,
  secret TEXT NOT NULL,
  previous_secret TEXT,
  previous_until INTEGER,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  failures INTEGER NOT NULL DEFAULT 0,
  failing_since INTEGER,
  held_until INTEGER NOT NULL DEFAULT 0,
  last_error TEXT,
  paused_at INTEGER
) STRICT;
CREATE INDEX webhooks_of_tenant ON webhooks (tenant, created_at, id);

CREATE TABLE webhook_deliveries (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE,
  webhook TEXT NOT NULL REFERENCES webhooks (id),
  tenant TEXT NOT NULL,
  lane TEXT NOT NULL,
  subject TEXT NOT NULL,
  event_id TEXT NOT NULL,
  type TEXT NOT NULL,
  body TEXT NOT NULL,
  state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0,
  attempts_before INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  ended_at INTEGER,
  status INTEGER,
  error TEXT
) STRICT;
CREATE INDEX webhook_deliveries_due ON webhook_deliveries (due_at, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_in_order ON webhook_deliveries (webhook, subject, seq) WHERE state = 'waiting';
CREATE INDEX webhook_deliveries_failed ON webhook_deliveries (state) WHERE state <> 'delivered';
CREATE INDEX webhook_deliveries_of_webhook ON webhook_deliveries (webhook, created_at, id);
CREATE INDEX webhook_deliveries_of_lane ON webhook_deliveries (lane, id);
CREATE INDEX webhook_deliveries_age ON webhook_deliveries (created_at);
`;
