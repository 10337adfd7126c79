/** Replays, with the batches of each. `due_at` is null once nobody needs to look at it again. */
export const SCHEMA_5 = `
CREATE TABLE replays (
  id text COLLATE "C" PRIMARY KEY,
  tenant text COLLATE "C" NOT NULL,
  kind text NOT NULL CHECK (kind IN ('live', 'what_if')),
  state text NOT NULL CHECK (state IN ('preparing', 'running', 'done', 'failed', 'discarding', 'discarded')),
  filter jsonb NOT NULL,
  changes jsonb NOT NULL,
  matched bigint NOT NULL,
  key text COLLATE "C",
  body_hash text,
  failure jsonb,
  result jsonb,
  after_at bigint NOT NULL,
  after_id text COLLATE "C" NOT NULL,
  due_at bigint,
  created_at bigint NOT NULL,
  finished_at bigint,
  expires_at bigint,
  UNIQUE (tenant, key)
);
CREATE INDEX replays_of_tenant ON replays (tenant, created_at, id);
CREATE INDEX replays_due ON replays (due_at) WHERE due_at IS NOT NULL;

CREATE TABLE replay_batches (
  replay_id text COLLATE "C" NOT NULL REFERENCES replays (id),
  batch_id text COLLATE "C" NOT NULL,
  PRIMARY KEY (replay_id, batch_id)
);
`;
