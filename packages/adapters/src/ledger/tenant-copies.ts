import type { CopiedRows, TakenCopy, TenantCopyStore, TenantId } from '@slowwave/engine';
import { canonical } from '@slowwave/engine/storing';
import { type Carried, carriedOf, shown } from './bundle/kinds.ts';
import { awaitShare } from './limits.ts';
import { sha256 } from './rows/columns.ts';
import { all, first, insert, type Row, run, type Script, snapshot, storeOf, type Value, write } from './script.ts';

/** A kind of thing that a tenant has in common. */
interface Copied {
  readonly table: string;
  /** Its key, without the tenant. */
  readonly key: readonly string[];
  /** What each ledger sees for itself, and what that is at first. */
  readonly own?: Row;
  readonly condition?: string;
  /** What goes with those that are gone. null: they stay. */
  readonly gone: readonly string[] | null;
}

/** In the order in which they are taken over. */
const COPIED: readonly Copied[] = [
  { table: 'settings', key: [], gone: [] },
  { table: 'ceilings', key: [], gone: [] },
  { table: 'api_keys', key: ['id'], own: { last_used_at: null }, gone: [] },
  { table: 'links', key: ['id'], gone: [] },
  {
    ...{ table: 'webhooks', key: ['id'] },
    own: { failures: 0, failing_since: null, held_until: 0, last_error: null, paused_at: null },
    gone: ['DELETE FROM webhook_deliveries WHERE tenant = @tenant AND webhook IN :ids'],
  },
  // Cases of owners who live here refer to them.
  { table: 'suites', key: ['id'], gone: null },
  // Without names. What was erased in one cell does not come back in another.
  {
    ...{ table: 'erasures', key: ['id'], condition: "state = 'erased'", gone: null },
    own: { owner_kind: null, owner_id: null, counts: null, remains: null, state: null, departed: null },
  },
];

/** What an erasure of another ledger has for columns of its own. */
const FILLED: Readonly<Record<string, Row>> = {
  erasures: { owner_kind: null, owner_id: null, lane: null, counts: '{}', remains: '[]', state: 'erased' },
};

export const tenantCopyStore = storeOf<TenantCopyStore>('copies', {
  read: snapshot(function* (tenant) {
    const rows: Record<string, object[]> = {};
    for (const copied of COPIED) rows[copied.table] = yield* rowsOf(copied, tenant);
    return { version: sha256(canonical(rows)).slice(0, VERSION_DIGITS), rows: rows as CopiedRows };
  }),
  take: write(take),
});

const VERSION_DIGITS = 16;

const takenOf = (tenant: TenantId): Script<TakenCopy | null> =>
  first<TakenCopy>('SELECT epoch, version FROM tenant_copies WHERE tenant = @tenant', { tenant });

const columnsFor = ({ table, own = {} }: Copied): readonly Carried[] => carriedOf(table, { own });

function* rowsOf(copied: Copied, tenant: TenantId): Script<object[]> {
  const { table, key, condition = 'true' } = copied;
  const order = key.length === 0 ? 'tenant' : key.join(', ');
  const rows = yield* all<Row>(`SELECT * FROM ${table} WHERE tenant = @tenant AND ${condition} ORDER BY ${order}`, {
    tenant,
  });
  return rows.map((row) => Object.fromEntries(columnsFor(copied).map((column) => [column.name, shown(column, row)])));
}

function* take(tenant: TenantId, copy: TakenCopy, rows: CopiedRows | null): Script<TakenCopy | string | null> {
  const before = yield* takenOf(tenant);
  if (before !== null && before.epoch > copy.epoch) return null;
  if (rows === null) {
    yield* run(NOTE, { tenant, ...copy });
    return copy;
  }
  const strange = Object.keys(rows).find((name) => COPIED.every(({ table }) => table !== name));
  if (strange !== undefined) return `unknown "${strange}"; a newer release wrote it`;
  const stored = COPIED.map((copied) => [copied, storedRows(copied, tenant, rows[copied.table] ?? [])] as const);
  for (const [, made] of stored) if (typeof made === 'string') return made;
  for (const [copied, made] of stored) if (typeof made !== 'string') yield* replace(copied, tenant, made);
  yield* awaitShare(tenant);
  yield* run(NOTE, { tenant, ...copy });
  return copy;
}

const NOTE = `
  INSERT INTO tenant_copies (tenant, epoch, version) VALUES (@tenant, @epoch, @version)
  ON CONFLICT (tenant) DO UPDATE SET epoch = excluded.epoch, version = excluded.version`;

/** The rows as they are stored; a text: what is wrong with one. */
function storedRows(
  copied: Copied,
  tenant: TenantId,
  rows: readonly Readonly<Record<string, unknown>>[],
): readonly Row[] | string {
  const made: Row[] = [];
  for (const fields of rows) {
    const row: Record<string, Value> = { ...copied.own, ...FILLED[copied.table], tenant };
    for (const { name, nullable, form } of columnsFor(copied)) {
      const given = fields[name] ?? null;
      const stored = given === null ? null : form.stored(given);
      if (stored === undefined || (stored === null && !nullable)) {
        return `${copied.table}.${name}: expected ${form.expected}, got ${JSON.stringify(given)?.slice(0, 80)}`;
      }
      row[name] = stored;
    }
    made.push(row);
  }
  return made;
}

function* replace(copied: Copied, tenant: TenantId, rows: readonly Row[]): Script<void> {
  const { table, key, gone } = copied;
  const ids = rows.map((row) => String(row[key[0] ?? 'tenant'] ?? ''));
  if (gone !== null) yield* removeOthers(copied, tenant, ids);
  const columns = columnsFor(copied).map(({ name }) => name);
  const changing = columns.filter((name) => !key.includes(name));
  const conflict = key.length === 0 ? 'tenant' : key.join(', ');
  const set = changing.map((name) => `${name} = excluded.${name}`).join(', ');
  const onConflict = gone === null ? 'DO NOTHING' : `DO UPDATE SET ${set}`;
  yield* insert(table, rows, `ON CONFLICT (${conflict}) ${onConflict}`);
}

function* removeOthers({ table, key, gone }: Copied, tenant: TenantId, kept: readonly string[]): Script<void> {
  const [id = 'tenant'] = key;
  const there = yield* all<{ id: string }>(`SELECT ${id} AS id FROM ${table} WHERE tenant = @tenant`, { tenant });
  const ids = there.map((row) => row.id).filter((one) => !kept.includes(one));
  if (ids.length === 0) return;
  for (const text of gone ?? []) yield* run(text, { tenant, ids });
  yield* run(`DELETE FROM ${table} WHERE tenant = @tenant AND ${id} IN :ids`, { tenant, ids });
}
