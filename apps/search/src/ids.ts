import { ListIdsQuery, ListMemoriesOfIdsQuery, MemoryList, UsedIdList, type UsedIdView } from '@slowwave/contracts';
import {
  type Filter,
  filterableOf,
  filterIn,
  isoOf,
  type Ledger,
  type Memory,
  type Millis,
  matches,
  memoryView,
  type NamedIds,
  namedIdsIn,
  type Page,
  type Paged,
  shownVersion,
  type TenantId,
  type UsedId,
} from '@slowwave/engine';
import { listed, pageOf } from '@slowwave/http';
import { routesOf } from './deps.ts';

const route = routesOf('memories');

/** What was said under an agent, run or app, in the memories of all owners. A key for one user or app has no use of them. */
export const idRoutes = [
  route('GET /v1/ids', {
    id: 'listIds',
    summary: 'List the agents, runs and apps under which memories were said',
    description: 'Sorted by kind, then by id. Only ids with current memories, of any owner.',
    query: ListIdsQuery,
    answer: UsedIdList,
    handle: async ({ ledger }, { tenant, query }) => listed(await ledger.saidIds.list(tenant, pageOf(query)), usedView),
  }),
  route('GET /v1/ids/memories', {
    id: 'listMemoriesOfIds',
    summary: 'List the memories of all owners that were said under an agent, run or app',
    description:
      'Memories that match all of the given ids, in the order of the memory ids. A page may have fewer than limit memories, or none, ' +
      'if filters exclude most of them; next_cursor shows whether there are more.',
    query: ListMemoriesOfIdsQuery,
    answer: MemoryList,
    handle: async ({ ledger, tools }, { tenant, query }) => {
      const asked = { named: namedIdsIn(query), now: tools.now(), where: filterIn(query.filters) };
      const memories = await saidUnder(ledger, { tenant, ...asked }, pageOf(query));
      return listed(memories, (memory) => memoryView(memory, shownVersion(memory, asked.now)));
    },
  }),
];

const usedView = ({ kind, id, memories, first, last }: UsedId): UsedIdView => ({
  kind,
  id,
  memories,
  first_said_at: isoOf(first),
  last_said_at: isoOf(last),
});

interface Asked {
  readonly tenant: TenantId;
  readonly named: NamedIds;
  readonly now: Millis;
  readonly where: Filter | null;
}

/** A filter only thins a page out: it may be true of few of very many. */
async function saidUnder(ledger: Ledger, { tenant, where, ...asked }: Asked, page: Page): Promise<Paged<Memory>> {
  const read = await ledger.saidIds.memories(tenant, asked, page);
  return {
    ...read,
    results: read.results.filter((memory) => where === null || matches(where, filterableOf(memory))),
  };
}
