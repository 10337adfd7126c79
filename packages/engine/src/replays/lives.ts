import type { EngineDeps } from '../deps.ts';
import type { Batch } from '../ports/ledger/batches.ts';
import type { Life } from '../ports/ledger/replays.ts';
import { type LaneId, type MemoryEvent, type Message, type Millis, ownerOf } from '../words.ts';

/** Memories that are read at a time. */
const PAGE = 100;

/** What the batches of one lane did in life, and what there was before the first of them. */
export interface LaneInLife {
  readonly lane: LaneId;
  /** In the order of the lane. */
  readonly batches: readonly Batch[];
  /** What was recorded before this moment was there before them. */
  readonly before: Millis;
  /** What they did, by event id. */
  readonly own: ReadonlyMap<string, MemoryEvent>;
}

/** The lanes of batches, each with what its batches did. `now` is the moment of a lane none of whose batches was ever applied. */
export async function lanesInLife(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  batches: readonly Batch[],
  now: Millis,
): Promise<readonly LaneInLife[]> {
  const lanes: LaneInLife[] = [];
  for (const [lane, group] of Map.groupBy(batches, (batch) => batch.lane)) {
    const own = new Map<string, MemoryEvent>();
    for (const { tenant, id } of group) {
      for (const event of await ledger.batches.events(tenant, id)) own.set(event.id, event);
    }
    const applied = group.flatMap(({ appliedAt }) => appliedAt ?? []);
    lanes.push({
      lane,
      batches: group.toSorted((a, b) => a.position - b.position),
      before: applied.length === 0 ? now : Math.min(...applied),
      own,
    });
  }
  return lanes;
}

/** The memories there were before the batches, page by page, with the events that had made them by then. */
export async function* livesBefore(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { lane, before, own }: LaneInLife,
): AsyncGenerator<readonly Life[]> {
  for (let after: string | null = null; ; ) {
    const page: readonly Life[] = await ledger.replays.lives(lane, before, { after, limit: PAGE });
    yield page
      .map(({ memory, events }) => ({ memory, events: events.filter((event) => !own.has(event.id)) }))
      .filter(({ events }) => saysAnything(events));
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.memory.id;
  }
}

/** Without a text there never was a memory. */
export const saysAnything = (events: readonly MemoryEvent[]): boolean => events.some(({ text }) => text !== null);

/** Some of a memory's events as if they were all: numbered without gaps, and taking back nothing but one another. */
export function asIfAll(events: readonly MemoryEvent[]): readonly MemoryEvent[] {
  const numbers = new Map<number, number>();
  const kept: MemoryEvent[] = [];
  for (const event of events.toSorted((a, b) => a.revision - b.revision)) {
    const { retraction } = event;
    const retracts = retraction?.retracts.flatMap((number) => numbers.get(number) ?? []);
    if (retracts?.length === 0) continue;
    const revision = kept.length + 1;
    numbers.set(event.revision, revision);
    const taken = retraction === undefined || retracts === undefined ? {} : { retraction: { ...retraction, retracts } };
    kept.push({ ...event, revision, ...taken });
  }
  return kept;
}

/** The messages of a batch, as a turn of it alone would gather them. */
export async function messagesOf({ ledger }: Pick<EngineDeps, 'ledger'>, batch: Batch): Promise<readonly Message[]> {
  const turn = {
    ...{ tenant: batch.tenant, lane: batch.lane, owner: ownerOf(batch.scope), scope: batch.scope },
    ...{ settings: batch.settings, batchIds: [batch.id], consolidationId: batch.consolidationId ?? '' },
    ...{ generation: 0, epoch: 0, attempts: 0, claimedAt: batch.acceptedAt },
  };
  return (await ledger.thoughts.gather(turn, 0)).messages;
}
