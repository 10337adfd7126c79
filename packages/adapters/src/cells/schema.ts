/**
 * The directory of cells, for both dialects. Ids of owners stand in the rows of moves alone, and only until these are over: exceptions
 * have keys, which are hashes.
 */
export const DIRECTORY_SCHEMA = `
CREATE TABLE directory (one bigint PRIMARY KEY, epoch bigint NOT NULL, layout_epoch bigint NOT NULL);
INSERT INTO directory (one, epoch, layout_epoch) VALUES (1, 0, 0);

CREATE TABLE cells (name text PRIMARY KEY, url text NOT NULL, state text NOT NULL, added bigint NOT NULL);

CREATE TABLE slot_ranges (first_slot bigint PRIMARY KEY, last_slot bigint NOT NULL, cell text NOT NULL);

CREATE TABLE exceptions (owner_key text PRIMARY KEY, slot bigint NOT NULL, cell text, epoch bigint NOT NULL);
CREATE INDEX exceptions_by_epoch ON exceptions (epoch);
CREATE INDEX exceptions_by_slot ON exceptions (slot);

CREATE TABLE moves (
  id text PRIMARY KEY,
  tenant text NOT NULL,
  owner_kind text NOT NULL,
  owner_id text NOT NULL,
  owner_key text NOT NULL UNIQUE,
  slot bigint NOT NULL,
  source text NOT NULL,
  destination text NOT NULL,
  epoch bigint NOT NULL,
  attempt bigint NOT NULL,
  state text NOT NULL,
  import_id text,
  stamp text,
  tries bigint NOT NULL,
  why text,
  due_at bigint NOT NULL,
  leased_until bigint NOT NULL
);
CREATE INDEX moves_due ON moves (due_at);
CREATE INDEX moves_by_source ON moves (source, slot);

CREATE TABLE handovers (
  id text PRIMARY KEY,
  first_slot bigint NOT NULL,
  last_slot bigint NOT NULL,
  source text NOT NULL,
  destination text NOT NULL,
  attempt bigint NOT NULL,
  state text NOT NULL,
  tries bigint NOT NULL,
  why text,
  due_at bigint NOT NULL,
  leased_until bigint NOT NULL
);

CREATE TABLE tenants (
  tenant text PRIMARY KEY, home text NOT NULL, epoch bigint NOT NULL, changed_at bigint NOT NULL,
  -- Nothing of it may be changed until then: its home is on its way.
  held_until bigint NOT NULL DEFAULT 0
);

-- Changes of what tenants have in common that are under way.
CREATE TABLE changes (id text PRIMARY KEY, tenant text NOT NULL, until bigint NOT NULL);
CREATE INDEX changes_of_tenant ON changes (tenant);

-- The epoch that a cell has of a tenant's copy.
CREATE TABLE copies (tenant text NOT NULL, cell text NOT NULL, epoch bigint NOT NULL, PRIMARY KEY (tenant, cell));

-- What a cell may use of a tenant's day, at most.
CREATE TABLE shares (
  tenant text NOT NULL, cell text NOT NULL, epoch bigint NOT NULL, part double precision NOT NULL, until bigint,
  PRIMARY KEY (tenant, cell)
);
`;

/** SQLite has no widths of numbers, and is as strict as PostgreSQL if it is told to. */
export const DIRECTORY_SCHEMA_OF_SQLITE = DIRECTORY_SCHEMA.replace(/\bbigint\b/g, 'INTEGER')
  .replace(/\bdouble precision\b/g, 'REAL')
  .replace(/(CREATE TABLE [^;]*\));/g, '$1 STRICT;');
