import type { EngineDeps } from '../deps.ts';
import { formerSince, historyFrom, withoutFormer } from '../memories/former.ts';
import { type HistoryPlace, type HistoryRemoval, readsOtherwise } from '../ports/ledger/erasures.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type ProjectDeps, project } from '../projection/project.ts';
import type { Millis, TenantId } from '../words.ts';

/** Memories of one transaction: a few ten milliseconds. */
const SLICE = 50;

type HistoryDeps = ProjectDeps & Pick<EngineDeps, 'log'>;

/** How many memories have former versions that have not held since before. */
export async function countHistories(
  { ledger }: Pick<HistoryDeps, 'ledger'>,
  tenant: TenantId,
  before: Millis,
): Promise<number> {
  let count = 0;
  for await (const places of due(ledger, tenant, before)) {
    const memories = await ledger.memories.many(tenant, idsOf(places));
    count += memories.filter((memory) => formerSince(memory, before).size > 0).length;
  }
  return count;
}

/** Removes what such versions and the events that tell of them say, in slices. Answers with how many memories lost something. */
export async function removeHistories(
  deps: HistoryDeps,
  { tenant, before, cancel }: { tenant: TenantId; before: Millis; cancel: Cancellation },
): Promise<number> {
  let count = 0;
  for await (const places of due(deps.ledger, tenant, before)) {
    if (cancel.aborted) break;
    const removals = await removalsOf(deps, { tenant, places, before });
    if (removals.length === 0) continue;
    await deps.ledger.retention.removeHistories(tenant, removals);
    const emptied = removals.filter(readsOtherwise).map(({ memory }) => memory.id);
    await projectMemories(deps, emptied, cancel);
    count += emptied.length;
  }
  return count;
}

async function* due(
  { retention }: HistoryDeps['ledger'],
  tenant: TenantId,
  before: Millis,
): AsyncGenerator<readonly HistoryPlace[]> {
  for (let after: HistoryPlace | null = null; ; ) {
    const places: readonly HistoryPlace[] = await retention.histories(tenant, before, { after, limit: SLICE });
    yield places;
    after = places.at(-1) ?? null;
    if (places.length < SLICE) return;
  }
}

const idsOf = (places: readonly HistoryPlace[]): string[] => places.map(({ memoryId }) => memoryId);

/** Also where nothing is to be removed, but it is known better by now since when there may be something. */
async function removalsOf(
  { ledger, tools }: HistoryDeps,
  { tenant, places, before }: { tenant: TenantId; places: readonly HistoryPlace[]; before: Millis },
): Promise<readonly HistoryRemoval[]> {
  const ids = idsOf(places);
  const memories = await ledger.memories.many(tenant, ids);
  const events = Map.groupBy(await ledger.undos.events(tenant, ids), ({ memoryId }) => memoryId);
  const from = new Map(places.map((place) => [place.memoryId, place.from]));
  return memories.flatMap((memory): HistoryRemoval[] => {
    const emptied = withoutFormer(tools, { memory, events: events.get(memory.id) ?? [] }, before);
    if (emptied === null) {
      return historyFrom(memory) === from.get(memory.id) ? [] : [{ memory, events: [], textHashes: [] }];
    }
    return [{ ...emptied, textHashes: emptied.texts.map((text) => tools.hash(text)) }];
  });
}

/** An index that is down is caught up later, from the outbox. */
async function projectMemories(deps: HistoryDeps, ids: readonly string[], cancel: Cancellation): Promise<void> {
  try {
    await project(deps, { entries: await deps.ledger.outbox.ofMemories(ids), batches: [] }, cancel);
  } catch (error) {
    deps.log.warn({ error: String(error) }, 'removed by retention, but still in the index for now');
  }
}
