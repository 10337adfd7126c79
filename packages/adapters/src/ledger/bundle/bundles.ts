import type {
  Arriving,
  Begun,
  BundledErasure,
  BundledOwner,
  BundleStore,
  Finished,
  ImportState,
  LaneId,
  Millis,
  Owner,
  Taken,
  TenantId,
} from '@slowwave/engine';
import { FIRST_SUM, opened } from '@slowwave/engine/storing';
import { ARRIVES, forgetAway } from '../away.ts';
import { cutOffOwner } from '../erasures.ts';
import { type LaneRow, raise } from '../lane-life.ts';
import { insertLane, lockOwner } from '../lanes.ts';
import { awaitShare } from '../limits.ts';
import { reproject } from '../outbox.ts';
import { type OwnerColumns, ownerFrom, sha256 } from '../rows/columns.ts';
import { hasOwner } from '../schema.ts';
import {
  all,
  allAs,
  audit,
  first,
  firstAs,
  insert,
  lookup,
  read,
  run,
  type Script,
  storeOf,
  write,
} from '../script.ts';
import { lockLane, recounted, saveLane } from '../turn.ts';
import { linesOf } from './read.ts';
import { storeLines } from './store-lines.ts';

export const bundleStore = storeOf<BundleStore>('bundles', {
  owners: read((tenant, after, limit) => allAs(ownerOf, SELECT_OWNERS, { tenant, after: after ?? '', limit })),
  // It looks through much at its beginning and its end.
  lines: audit(linesOf),
  erasures: read((tenant, after, limit) => allAs(erasureOf, SELECT_ERASURES, { tenant, after: after ?? '', limit })),
  takeErasures: write((tenant, erasures) =>
    insert(
      'erasures',
      erasures.map(({ id, ownerHash, requestedAt, erasedAt }) => ({
        ...{ id, tenant, owner_kind: null, owner_id: null, owner_hash: ownerHash, lane: null, state: 'erased' },
        ...{ counts: '{}', remains: '[]', requested_at: requestedAt, erased_at: erasedAt },
      })),
      'ON CONFLICT (id) DO NOTHING',
    ),
  ),
  begin: write(begin),
  take: write(take),
  finish: write(finish),
  arriving: read(arrivingOf),
  find: lookup(findImport),
});

const SELECT_OWNERS = `
  SELECT id AS lane, owner_kind, owner_id FROM lanes
  WHERE tenant = @tenant AND ${hasOwner('lanes')} AND id > @after ORDER BY id LIMIT @limit`;

const ownerOf = (row: OwnerColumns & Pick<BundledOwner, 'lane'>): BundledOwner => ({
  lane: row.lane,
  owner: ownerFrom(row),
});

const SELECT_ERASURES = `
  SELECT id, owner_hash, requested_at, erased_at FROM erasures
  WHERE tenant = @tenant AND erased_at IS NOT NULL AND id > @after ORDER BY id LIMIT @limit`;

interface ErasureRow {
  readonly id: string;
  readonly owner_hash: string;
  readonly requested_at: number;
  readonly erased_at: number;
}

const erasureOf = (row: ErasureRow): BundledErasure => ({
  id: row.id,
  ownerHash: row.owner_hash,
  requestedAt: row.requested_at,
  erasedAt: row.erased_at,
});

interface ImportRow extends OwnerColumns {
  readonly id: string;
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly owner_hashes: string;
  readonly read_at: number;
  readonly lines: number;
  readonly last_sum: string;
  readonly taken: number;
  readonly sum: string;
  readonly life: string | null;
  readonly attempt: number;
  readonly finished_at: number | null;
}

const hiddenOwner = ({ kind }: Owner, id: string): Owner => ({ kind, id: cutOffOwner(id) });

const stateFrom = (row: ImportRow): ImportState => ({
  id: row.id,
  tenant: row.tenant,
  owner: ownerFrom(row),
  hidden: hiddenOwner(ownerFrom(row), row.id),
  finished: row.finished_at !== null,
  taken: row.taken,
  lines: row.lines,
  lane: row.lane,
});

function findImport(id: string): Script<ImportState | null> {
  return firstAs(stateFrom, 'SELECT * FROM imports WHERE id = @id', { id });
}

/** Of those that nobody has thrown away: the lane is theirs until it is the owner's. */
const SELECT_OF_OWNER = `
  SELECT i.* FROM imports i JOIN lanes l ON l.id = i.lane
  WHERE i.tenant = @tenant AND i.owner_kind = @kind AND i.owner_id = @ownerId AND (l.erasure = i.id OR l.erasure IS NULL)
  ORDER BY i.created_at DESC, i.id DESC`;

/** Those that have not finished. */
function* arrivingOf(tenant: TenantId, owner: Owner, attempt: number): Script<readonly ImportState[]> {
  const rows = yield* all<ImportRow>(SELECT_OF_OWNER, { tenant, kind: owner.kind, ownerId: owner.id });
  return rows.filter((row) => row.finished_at === null && row.attempt <= attempt).map(stateFrom);
}

function* begin(arriving: Arriving): Script<Begun> {
  const { tenant, owner, id, lane, ownerHashes, readAt, lines, sum, attempt, now } = arriving;
  if (yield* isErased(ownerHashes, readAt)) return { kind: 'erased' };
  const before = yield* all<ImportRow>(SELECT_OF_OWNER, { tenant, kind: owner.kind, ownerId: owner.id });
  if (before.some((row) => row.attempt > attempt && row.finished_at === null)) return { kind: 'overtaken' };
  const same = before.find((row) => row.last_sum === sum && row.lines === lines);
  if (same !== undefined) {
    yield* run('UPDATE imports SET attempt = @attempt WHERE id = @id AND attempt < @attempt', { id: same.id, attempt });
    return { kind: 'import', ...stateFrom(same) };
  }
  if ((yield* lockOwner({ tenant, owner })) !== null) return { kind: 'exists' };
  if ((yield* first(SELECT_LEAVING, { tenant, kind: owner.kind, ownerId: owner.id })) !== null)
    return { kind: 'leaving' };
  if ((yield* first(SELECT_THROWN_AWAY, { tenant, kind: owner.kind, ownerId: owner.id })) !== null)
    return { kind: 'thrown_away' };
  const other = before.find((row) => row.finished_at === null);
  if (other !== undefined) return { kind: 'other', id: other.id };
  const hidden = hiddenOwner(owner, id);
  yield* insertLane({ tenant, owner: hidden, newId: lane, now }, ARRIVES);
  yield* run('UPDATE lanes SET erasure = @id WHERE id = @lane', { id, lane });
  yield* run(INSERT_IMPORT, {
    ...{ id, tenant, lane, kind: owner.kind, ownerId: owner.id, hashes: JSON.stringify(ownerHashes) },
    ...{ readAt, lines, lastSum: sum, sum: FIRST_SUM, attempt, now },
  });
  // Whoever is moved comes from another cell.
  if (attempt > 0) yield* awaitShare(tenant);
  return { kind: 'import', id, tenant, owner, hidden, finished: false, taken: 0, lines, lane };
}

const INSERT_IMPORT = `
  INSERT INTO imports (id, tenant, lane, owner_kind, owner_id, owner_hashes, read_at, lines, last_sum, taken, sum, attempt,
    created_at)
  VALUES (@id, @tenant, @lane, @kind, @ownerId, @hashes::jsonb, @readAt, @lines, @lastSum, 0, @sum, @attempt, @now)`;

/** Its rows go while the same rows would come. */
const SELECT_LEAVING = `
  SELECT 1 AS found FROM erasures
  WHERE state <> 'erased' AND departed = 'going' AND tenant = @tenant AND owner_kind = @kind AND owner_id = @ownerId LIMIT 1`;

/** The same of what had not arrived completely, and is being removed. */
const SELECT_THROWN_AWAY = `
  SELECT 1 AS found FROM imports i JOIN lanes l ON l.id = i.lane
  WHERE i.tenant = @tenant AND i.owner_kind = @kind AND i.owner_id = @ownerId AND i.finished_at IS NULL AND l.erasure <> i.id
  LIMIT 1`;

/** What was erased after it was read does not come back. */
function* isErased(ownerHashes: readonly string[], readAt: Millis): Script<boolean> {
  const text = 'SELECT 1 AS found FROM erasures WHERE owner_hash IN :ownerHashes AND requested_at >= @readAt LIMIT 1';
  return (yield* first(text, { ownerHashes, readAt })) !== null;
}

interface Held {
  readonly row: ImportRow;
  readonly lane: LaneRow;
}

/** An import and its lane, locked; null: it is finished, or was thrown away. */
function* held(id: string): Script<Held | null> {
  const row = yield* first<ImportRow>('SELECT * FROM imports WHERE id = @id FOR NO KEY UPDATE', { id });
  const lane = row === null ? null : yield* lockLane(row.lane);
  return row === null || lane === null || lane.erasure !== id ? null : { row, lane };
}

export function* take(id: string, from: number, lines: readonly string[]): Script<Taken> {
  const found = yield* held(id);
  if (found === null) return { kind: 'gone' };
  const { row } = found;
  if (row.taken !== from) return { kind: 'elsewhere', taken: row.taken };
  const texts: string[] = [];
  let { sum } = row;
  for (const [i, line] of lines.entries()) {
    const read = opened(sha256, sum, line);
    if (read.kind === 'damaged') return { ...read, line: from + i + 1 };
    texts.push(read.text);
    sum = read.sum;
  }
  const refused = yield* storeLines({ id, tenant: row.tenant, lane: row.lane, owner: ownerFrom(row) }, from, texts);
  if (refused !== null) return { kind: 'refused', ...refused };
  const taken = from + lines.length;
  yield* run('UPDATE imports SET taken = @taken, sum = @sum WHERE id = @id', { id, taken, sum });
  return { kind: 'taken', taken };
}

/** What the lane did where it comes from. */
type Life = Pick<LaneRow, 'state' | 'consolidation_id' | 'due_at'>;

function* finish(id: string, now: Millis): Script<Finished> {
  const found = yield* held(id);
  if (found === null) return { kind: 'gone' };
  const { row, lane } = found;
  const { lines, taken, tenant, life } = row;
  if (taken !== lines || row.sum !== row.last_sum || life === null) return { kind: 'incomplete', taken, lines };
  if (yield* isErased(JSON.parse(row.owner_hashes), row.read_at)) return { kind: 'erased' };
  const owner = ownerFrom(row);
  if ((yield* lockOwner({ tenant, owner })) !== null) return { kind: 'exists' };
  yield* forgetAway({ tenant, owner });
  yield* run('UPDATE lanes SET owner_id = @ownerId, erasure = NULL WHERE id = @lane', {
    lane: lane.id,
    ownerId: owner.id,
  });
  const alive = withLife(yield* recounted(lane), JSON.parse(life), now);
  const step = alive.state === 'idle' ? { lane: alive, nudge: null } : raise(alive);
  yield* saveLane(step.lane);
  yield* reproject(lane.id);
  yield* run('UPDATE imports SET finished_at = @now WHERE id = @id', { id, now });
  return { kind: 'finished', nudge: step.nudge };
}

/** A pinned window is taken up by whoever claims the lane next, with the answers that were paid for. */
function withLife(lane: LaneRow, life: Life, now: Millis): LaneRow {
  if (life.consolidation_id !== null) {
    return { ...lane, state: 'consolidating', consolidation_id: life.consolidation_id, due_at: life.due_at ?? now };
  }
  return lane.pending === 0 ? lane : { ...lane, state: 'waiting', due_at: life.due_at ?? now };
}
