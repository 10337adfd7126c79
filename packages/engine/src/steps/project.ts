import type { EngineDeps } from '../deps.ts';
import type { OutboxEntry } from '../ports/ledger/outbox.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { spaceIn } from '../replays/space.ts';
import { pointsOf, textsOf, withdrawalsOf } from '../rules/standing.ts';
import type { LaneId, TenantId } from '../words.ts';
import { embedTexts } from './embed.ts';
import { heard } from './heard.ts';

export type ProjectDeps = Pick<EngineDeps, 'ledger' | 'index' | 'embedder' | 'tools' | 'meter'>;

/**
 * Tells the index what the ledger holds now, then clears the outbox up to what was told. A change that comes in between
 * has an entry of its own, and the index never lets an older revision replace a newer one.
 */
export async function project(deps: ProjectDeps, entries: readonly OutboxEntry[], cancel: Cancellation): Promise<void> {
  for (const group of byLane(entries)) await projectLane(deps, group, cancel);
}

async function projectLane(deps: ProjectDeps, group: LaneGroup, cancel: Cancellation): Promise<void> {
  const { ledger, tools, meter } = deps;
  const memories = await ledger.memories.many(group.tenant, [...new Set(group.entries.map((entry) => entry.memoryId))]);
  const vectorOf = await embedTexts(deps, { lane: group.lane, texts: memories.flatMap(textsOf) }, cancel);
  const said = await heard(deps, group.lane, memories);
  const points = memories.flatMap((memory) => pointsOf(memory, { vectorOf, said }));
  await tell(deps, group, { points, withdrawals: memories.flatMap(withdrawalsOf) });
  const now = tools.now();
  const seqs = group.entries.map((entry) => entry.seq);
  const accepted = await ledger.outbox.clear(seqs, now);
  if (spaceIn(group.tenant) === null) meter.searchable(accepted.map((at) => now - at));
}

/**
 * A lane that was cut off before is not told of: by then its owner's name may stand for somebody new. One that is cut
 * off meanwhile is taken back: whoever erases it may have passed already.
 */
async function tell({ ledger, index }: ProjectDeps, { lane }: LaneGroup, { points, withdrawals }: Telling) {
  const [first] = [...points, ...withdrawals];
  if (first === undefined || !(await ledger.erasures.standing(lane))) return;
  if (points.length > 0) await index.upsert(points);
  if (withdrawals.length > 0) await index.withdraw(withdrawals);
  const { tenant, owner } = first;
  if (!(await ledger.erasures.standing(lane))) await index.forget({ tenant, owner, lane });
}

interface Telling {
  readonly points: readonly IndexPoint[];
  readonly withdrawals: readonly Withdrawal[];
}

interface LaneGroup {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly entries: OutboxEntry[];
}

function byLane(entries: readonly OutboxEntry[]): LaneGroup[] {
  const groups = new Map<LaneId, LaneGroup>();
  for (const entry of entries) {
    const group = groups.get(entry.lane) ?? { tenant: entry.tenant, lane: entry.lane, entries: [] };
    group.entries.push(entry);
    groups.set(entry.lane, group);
  }
  return [...groups.values()];
}
