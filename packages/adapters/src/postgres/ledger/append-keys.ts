import type { Appended, BatchState, TenantId } from '@slowwave/engine';
import type { Posted } from '../../ledger/rows/batch.ts';
import type { Append } from './append.ts';
import { LostRowError } from './errors.ts';
import type { Sql } from './sql.ts';

/**
 * Takes the idempotency keys of a group. What a key that was taken before leads to is the answer; batches without an
 * answer are to be stored. A key that another transaction is just taking is waited for.
 */
export async function answersOfKeys(sql: Sql, group: readonly Append[]): Promise<Map<Append, Appended>> {
  const keyed = group.filter(({ posted }) => posted.batch.idempotency !== null);
  if (keyed.length === 0) return new Map();
  const firsts = new Map(keyed.toReversed().map((one) => [keyOf(one.posted.batch), one]));
  const before = await takenBefore(sql, await take(sql, [...firsts.values()]));
  const answers = new Map<Append, Appended>();
  for (const one of keyed) {
    const key = keyOf(one.posted.batch);
    const first = firsts.get(key);
    const holder = before.get(key) ?? (first === undefined || first === one ? null : takenBy(first.posted.batch));
    if (holder !== null) answers.set(one, answerOf(one.posted.batch, holder));
  }
  return answers;
}

/** Takes keys in one order, so that nobody waits in a circle. Returns those that were taken already. */
async function take(sql: Sql, group: readonly Append[]): Promise<readonly Append[]> {
  const taken = await sql.all<{ tenant: TenantId; key: string }>(TAKE_KEYS, {
    ...namesOf(group),
    bodyHashes: group.map(({ posted }) => posted.batch.idempotency?.bodyHash ?? null),
    ids: group.map(({ posted }) => posted.batch.id),
  });
  const ours = new Set(taken.map(({ tenant, key }) => JSON.stringify([tenant, key])));
  return group.filter(({ posted }) => !ours.has(keyOf(posted.batch)));
}

async function takenBefore(sql: Sql, group: readonly Append[]): Promise<ReadonlyMap<string, Holder>> {
  if (group.length === 0) return new Map();
  const rows = await sql.all<Holder & { tenant: TenantId; key: string }>(SELECT_KEYS, namesOf(group));
  const holders = new Map(rows.map((row) => [JSON.stringify([row.tenant, row.key]), row]));
  const lost = group.find(({ posted }) => !holders.has(keyOf(posted.batch)));
  if (lost !== undefined)
    throw new LostRowError(`the key of batch ${lost.posted.batch.id} is taken by one that is not there`);
  return holders;
}

/** Who has a key. */
interface Holder {
  readonly body_hash: string;
  readonly batch_id: string;
  readonly state: BatchState;
}

/** A batch of the same group, which is about to be stored. */
const takenBy = ({ idempotency, id }: Posted['batch']): Holder => ({
  body_hash: idempotency?.bodyHash ?? '',
  batch_id: id,
  state: 'pending',
});

const answerOf = ({ idempotency }: Posted['batch'], holder: Holder): Appended =>
  holder.body_hash === idempotency?.bodyHash
    ? { kind: 'repeated', batchId: holder.batch_id, state: holder.state }
    : { kind: 'conflict' };

const keyOf = ({ tenant, idempotency }: Posted['batch']): string => JSON.stringify([tenant, idempotency?.key]);

const namesOf = (group: readonly Append[]) => ({
  tenants: group.map(({ posted }) => posted.batch.tenant),
  keys: group.map(({ posted }) => posted.batch.idempotency?.key ?? null),
});

const TAKE_KEYS = `
  INSERT INTO idempotency_keys (tenant, key, body_hash, batch_id)
  SELECT * FROM unnest(@tenants::text[], @keys::text[], @bodyHashes::text[], @ids::text[])
    AS n (tenant, key, body_hash, batch_id)
  ORDER BY n.tenant, n.key
  ON CONFLICT (tenant, key) DO NOTHING
  RETURNING tenant, key`;

const SELECT_KEYS = `
  SELECT k.tenant, k.key, k.body_hash, k.batch_id, b.state
  FROM unnest(@tenants::text[], @keys::text[]) AS n (tenant, key)
  JOIN idempotency_keys k ON k.tenant = n.tenant AND k.key = n.key
  JOIN batches b ON b.id = k.batch_id`;
