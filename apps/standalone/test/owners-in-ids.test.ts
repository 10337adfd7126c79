import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { world } from './openapi/world.ts';
import { type Setup, standalone } from './setups.ts';

const KEY = 'the-key-of-the-operator';
const PATIENCE = { timeout: 60_000, interval: 100 };
let setup: Setup;

beforeAll(async () => {
  setup = await standalone({ SLOWWAVE_API_KEY: KEY });
});
afterAll(() => setup.close());

it('every id that is handed out for an owner carries its bits, whatever made it', async () => {
  const there = world(setup.ingest, { key: KEY, receiver: 'http://127.0.0.1:9/hook', dataDir: setup.dataDir });
  await there.memory();
  await there.relation();
  await there.undo();
  await there.review();
  await there.whatIf();
  for (const owner of [{ user_id: 'ana' }, { agent_id: 'ana' }, { run_id: 'ana' }]) {
    const messages = [{ role: 'user', content: 'I am Ana. I live in Lisbon with my sister Eva.' }];
    const said = { ...owner, messages, graph: true, flush: true };
    const { consolidation_id: id } = await there.done('POST /v1/batches?wait=60000', said);
    await vi.waitFor(async () => {
      expect(await there.done(`GET /v1/consolidations/${id}/graph`)).toMatchObject({ state: 'applied' });
    }, PATIENCE);
  }
  await there.quiet();
  await setup.stop();

  const found = idsByOwner(join(setup.dataDir, 'ledger.db'));
  const strays = found.filter(({ id, owner }) => bitsIn(id) !== bitsOf(owner));
  expect(strays).toEqual([]);
  const kinds = new Set(found.map(({ id }) => id.split('_')[0]));
  // Ids of events follow from those of their memories, and stand in no row.
  expect([...kinds].sort()).toEqual(['bat', 'con', 'ent', 'lane', 'mem', 'msg', 'rev', 'sta', 'und']);
  const owners = new Set(found.map(({ owner }) => bitsOf(owner)));
  expect(owners.size).toBeGreaterThan(6);
});

interface Owner {
  readonly tenant: string;
  readonly owner_kind: string;
  readonly owner_id: string;
}

const OWNED = /\b(?:bat|msg|lane|con|mem|evt|rev|und|ent|sta)_[0-9a-z]{26}\b/g;

/** All ids in all rows of a lane, of one of its memories or consolidations, each with the owner of the lane. */
function idsByOwner(path: string): readonly { readonly id: string; readonly owner: Owner }[] {
  const db = new DatabaseSync(path, { readOnly: true });
  const lanes = new Map<unknown, Owner>(
    (db.prepare('SELECT * FROM lanes').all() as unknown as (Owner & { id: string; number: number })[]).flatMap(
      (lane) => [
        [lane.id, lane],
        [lane.number, lane],
      ],
    ),
  );
  const ofMemories = new Map(
    db
      .prepare('SELECT number, lane FROM memories')
      .all()
      .map(({ number, lane }) => [number, ownerIn(lanes, lane)]),
  );
  for (const table of ['memories', 'consolidations']) {
    for (const { id, lane } of db.prepare(`SELECT id, lane FROM ${table}`).all()) lanes.set(id, ownerIn(lanes, lane));
  }
  const tables = db.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'").all();
  const found = tables.flatMap(({ name }) =>
    db
      .prepare(`SELECT * FROM ${String(name)}`)
      .all()
      .flatMap((row) => {
        const named = name === 'lanes' ? row.id : (row.lane ?? row.memory_id ?? row.consolidation_id);
        const of = ofMemories.get(row.memory ?? null) ?? lanes.get(named);
        if (of === undefined) return [];
        const { tenant, owner_kind, owner_id } = of;
        const ids = Object.values(row).flatMap((value) =>
          typeof value === 'string' ? (value.match(OWNED) ?? []) : [],
        );
        return ids.map((id) => ({ id, owner: { tenant, owner_kind, owner_id } }));
      }),
  );
  db.close();
  return found;
}

function ownerIn(lanes: ReadonlyMap<unknown, Owner>, lane: unknown): Owner {
  const owner = lanes.get(lane);
  if (owner === undefined) throw new Error(`expected a lane, got ${String(lane)}`);
  return owner;
}

/** As docs/security.md says: the first 16 bits of a hash of tenant, kind and id. A shadow space belongs to its tenant. */
function bitsOf({ tenant, owner_kind: kind, owner_id: id }: Owner): number {
  const payer = tenant.replace(/^shadow\/[^/]*\//, '');
  const hash = createHash('sha256').update(JSON.stringify([payer, kind, id]));
  return hash.digest().readUInt16BE();
}

const DIGITS = '0123456789abcdefghjkmnpqrstvwxyz';

/** The upper 16 of the 20 bits in the digits 15 to 18. */
function bitsIn(id: string): number {
  const digits = id.slice(id.indexOf('_') + 15, id.indexOf('_') + 19);
  return [...digits].reduce((sum, digit) => sum * 32 + DIGITS.indexOf(digit), 0) >> 4;
}
