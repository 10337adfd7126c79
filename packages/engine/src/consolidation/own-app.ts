import type { EngineDeps } from '../deps.ts';
import { inApp } from '../memories/in-app.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import type { IndexHit, IndexQuery } from '../ports/search-index.ts';
import { askedInSlices } from '../ports/tools.ts';
import { queriesInApp, toldTo } from '../search/in-app.ts';
import type { LaneId, Memory, TenantId } from '../words.ts';

/** The app to which a batch of its key is kept: it must neither show nor change what only others were told. null: to none. */
export const ownAppOf = ({ settings, scope }: Turn): string | null =>
  settings.ownAppOnly === true ? scope.appId : null;

/** Memories as an app knows them, where a batch is kept to one. */
export const knownTo = (appId: string | null, memories: readonly Memory[]): readonly Memory[] =>
  appId === null ? memories : memories.flatMap((memory) => inApp(memory, appId) ?? []);

type Hits = readonly IndexHit[];

export const askIndex = (
  { tools, index }: Pick<EngineDeps, 'tools' | 'index'>,
  queries: readonly IndexQuery[],
): Promise<readonly Hits[]> => askedInSlices(tools, queries, index.search);

interface Asking {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly queries: readonly IndexQuery[];
  readonly appId: string;
}

/** The same by what one app was told, and nothing else: last of each memory, or after the fact. */
export async function askIndexInApp(
  deps: Pick<EngineDeps, 'ledger' | 'tools' | 'index'>,
  { tenant, lane, queries, appId }: Asking,
): Promise<readonly Hits[]> {
  const { ledger, tools } = deps;
  const beyond = await ledger.saidIds.beyondIndex(lane, [{ kind: 'app', id: appId }]);
  const asked = queries.map((query) => [...queriesInApp(query, appId, beyond), { ...query, filter: { appId } }]);
  const answers = await askIndex(deps, asked.flat());
  const ids = [...new Set(answers.flat().map(({ point }) => point.memoryId))];
  const memories = await askedInSlices(tools, ids, (some) => ledger.memories.many(tenant, some));
  const isTold = toldTo(appId, memories);
  const perQuery = asked[0]?.length ?? 0;
  return queries.map((_, i) => {
    const hits = answers.slice(i * perQuery, (i + 1) * perQuery).flat();
    return hits.filter(isTold);
  });
}

interface Deletions {
  readonly turn: Turn;
  readonly stones: readonly Tombstone[];
}

/** What was deleted that an app was never told blocks nothing that it says. */
export async function ownTombstones(
  ledger: EngineDeps['ledger'],
  { turn, stones }: Deletions,
): Promise<readonly Tombstone[]> {
  const appId = ownAppOf(turn);
  if (appId === null || stones.length === 0) return stones;
  const memories = await ledger.memories.many(turn.tenant, [...new Set(stones.map(({ memoryId }) => memoryId))]);
  const own = new Set(knownTo(appId, memories).map(({ id }) => id));
  return stones.filter(({ memoryId }) => own.has(memoryId));
}
