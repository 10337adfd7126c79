import type { ColdStore, Segment } from '../ports/ledger/owners-away.ts';
import type { SegmentStore } from '../ports/segments.ts';
import type { Cancellation } from '../ports/tools.ts';
import { markerOf, sameMarker } from '../projection/marker.ts';
import { DAY_MS } from '../text/dates.ts';
import type { LaneId, Millis } from '../words.ts';
import { type ColdDeps, coolOwner, isDue, removeRows } from './cool.ts';
import { wakeOwner } from './wake.ts';

export interface SweepingCold {
  /** Of nothing written, until an owner is laid to sleep; null: nobody is, unless somebody asks for it. */
  readonly afterMs: Millis | null;
  /** So long the object of an owner that woke stays, for backups of the ledger from before. */
  readonly keepMs: Millis;
}

/** Longer than anybody takes to write a segment and lay its owner to sleep. */
const WRITTEN_MS = 3_600_000;
/** Whoever began to cool or to wake is dead, or very slow; both can be done twice. */
const STOPPED_MS = 60_000;
const PAGE = 100;

/** What is left of what was stopped goes on, retention wakes whom it concerns, and who was silent for long enough goes to sleep. */
export async function sweepCold(deps: ColdDeps, how: SweepingCold, cancel: Cancellation): Promise<void> {
  const { cold, tools } = deps;
  const now = tools.now();
  for (const segment of await cold.since('cooling', now - STOPPED_MS, PAGE)) await removeRows(deps, segment, cancel);
  for (const { name } of await cold.since('waking', now - STOPPED_MS, PAGE))
    await tried(deps, name, () => wakeOwner(deps, name, cancel));
  for (const { name } of await cold.since('written', now - WRITTEN_MS, PAGE)) await deleteSegment(deps, name);
  for (const { name } of await cold.since('dropped', now - how.keepMs, PAGE)) await deleteSegment(deps, name);
  await wakeForRetention(deps, cancel);
  if (how.afterMs !== null) await coolIdle(deps, now - how.afterMs, cancel);
}

/** The object first: while there is one, there is a row. */
export async function deleteSegment(
  { cold, segments }: { readonly cold: Pick<ColdStore, 'forget'>; readonly segments: Pick<SegmentStore, 'delete'> },
  name: string,
  erasure: string | null = null,
): Promise<void> {
  await segments.delete(name);
  await cold.forget(name, erasure);
}

/** At most once a day: whoever is asleep for less is looked at tomorrow. */
async function wakeForRetention(deps: ColdDeps, cancel: Cancellation): Promise<void> {
  const { cold, tools, ledger } = deps;
  const now = tools.now();
  let after: string | null = null;
  for (let page: readonly Segment[] = [], more = true; more && !cancel.aborted; more = page.length === PAGE) {
    page = await cold.list(null, after, PAGE);
    for (const { name, tenant, oldest, since } of page) {
      if (since > now - DAY_MS || !isDue(oldest, await ledger.settings.get(tenant), now)) continue;
      await tried(deps, name, () => wakeOwner(deps, name, cancel));
    }
    after = page.at(-1)?.name ?? null;
  }
}

/** While the index is not whole, nobody knows what it would have to find. */
async function coolIdle(deps: ColdDeps, before: Millis, cancel: Cancellation): Promise<void> {
  const { cold, ledger, index, log } = deps;
  if (!sameMarker(await index.marker(), markerOf(deps)) || (await ledger.outbox.refilling())) return;
  let cooled = 0;
  let after: LaneId | null = null;
  for (let full = true; full && !cancel.aborted; ) {
    const page = await cold.idle(before, after, PAGE);
    for (const owner of page) {
      if (cancel.aborted) break;
      const done = await tried(deps, owner.lane, () => coolOwner(deps, owner, cancel));
      if (done?.kind === 'cooled') cooled += 1;
    }
    after = page.at(-1)?.lane ?? null;
    full = page.length === PAGE;
  }
  if (cooled > 0) log.info({ owners: cooled }, 'owners were put to sleep');
}

/** One that cannot be done stands before nobody else. */
async function tried<T>({ log }: Pick<ColdDeps, 'log'>, of: string, work: () => Promise<T>): Promise<T | null> {
  try {
    return await work();
  } catch (error) {
    log.error({ of, error: String(error) }, 'an owner could not be put to sleep or woken; the next sweep will retry');
    return null;
  }
}
