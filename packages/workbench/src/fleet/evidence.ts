import { type Api, each } from '../api.ts';
import type { Posted } from './load.ts';
import { type Counts, countsOf } from './quiet.ts';
import { userOf } from './said.ts';

/** What became of one user's batches, as the API shows it. */
export interface UserEvidence {
  readonly user: number;
  /** In the order in which they were posted. */
  readonly posted: readonly string[];
  readonly batches: readonly BatchFound[];
  /** Oldest first. */
  readonly consolidations: readonly ConsolidationFound[];
  readonly live: readonly MemoryFound[];
  /** The life of each memory, oldest event first. */
  readonly histories: ReadonlyMap<string, readonly EventFound[]>;
}

interface BatchFound {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly consolidation_id: string | null;
}

interface ConsolidationFound {
  readonly id: string;
  readonly state: string;
  readonly batch_ids: readonly string[];
  readonly created_at: string;
  readonly applied_at: string | null;
}

interface MemoryFound {
  readonly id: string;
  readonly memory: string;
}

interface EventFound {
  readonly event: string;
  readonly version: number;
  readonly previous: string | null;
  readonly memory: string | null;
  readonly consolidation_id: string | null;
}

export interface FleetEvidence {
  readonly counts: Counts;
  readonly users: readonly UserEvidence[];
}

interface Asked {
  readonly ingest: Api;
  readonly search: Api;
  readonly console: Api;
}

/** Asks the programs for everything that came of what was posted. */
export async function gatherFleetEvidence(
  apis: Asked,
  posted: Posted,
  onUser: (done: number) => void = () => {},
): Promise<FleetEvidence> {
  let done = 0;
  const users = await each([...posted.entries()], async ([user, ids]) => {
    const found = await ofUser(apis, user, ids);
    done += 1;
    onUser(done);
    return found;
  });
  return { counts: await countsOf(apis.search), users };
}

async function ofUser(
  { ingest, search, console }: Asked,
  user: number,
  posted: readonly string[],
): Promise<UserEvidence> {
  const query = `user_id=${userOf(user)}`;
  const batches = await ingest.all<BatchFound>(`/v1/batches?${query}`);
  const consolidations = await console.all<ConsolidationFound>(`/v1/consolidations?${query}`);
  const live = await search.all<MemoryFound>(`/v1/memories?${query}`);
  const histories = new Map<string, readonly EventFound[]>();
  for (const { id } of live) histories.set(id, await search.all<EventFound>(`/v1/memories/${id}/history`));
  return { user, posted, batches, consolidations: consolidations.toReversed(), live, histories };
}
