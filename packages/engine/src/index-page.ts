import type { EngineDeps } from './deps.ts';
import type { IndexPoint, Withdrawal } from './ports/search-index.ts';
import type { Cancellation } from './ports/tools.ts';
import { pointsOf, textsOf, withdrawalsOf } from './rules/standing.ts';
import { embedTexts } from './steps/embed.ts';
import { heard } from './steps/heard.ts';
import type { LaneId, Memory, Millis } from './words.ts';

/** A part of the ledger to be indexed: memories in the order of their ids. */
export interface IndexPageRequest {
  /** The last memory of the page before; null: from the first on. */
  readonly after: string | null;
  readonly limit: number;
  /** Only memories changed since; null: all. */
  readonly changedSince: Millis | null;
}

export interface IndexPage {
  /** Every version of the page's memories, embedded. */
  readonly points: readonly IndexPoint[];
  /** Versions these memories have no more. */
  readonly withdrawals: readonly Withdrawal[];
  /** How many memories were looked at, and the last of them, whether or not it has points; null: there was none. */
  readonly memories: number;
  readonly last: string | null;
  readonly more: boolean;
}

/** What an index that is built anew is given of the ledger, page by page. */
export async function indexPage(
  deps: Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>,
  { after, limit, changedSince }: IndexPageRequest,
  cancel: Cancellation,
): Promise<IndexPage> {
  const looked = await deps.ledger.memories.every(after, limit);
  const wanted = looked.filter((memory) => changedSince === null || changedAt(memory) >= changedSince);
  const points: IndexPoint[] = [];
  for (const [lane, memories] of byLane(wanted)) {
    const texts = memories.flatMap(textsOf);
    const vectorOf = await embedTexts(deps, { lane, texts }, cancel);
    const said = await heard(deps, lane, memories);
    points.push(...memories.flatMap((memory) => pointsOf(memory, { vectorOf, said })));
  }
  const withdrawals = wanted.flatMap(withdrawalsOf);
  return {
    points,
    withdrawals,
    memories: looked.length,
    last: looked.at(-1)?.id ?? null,
    more: looked.length === limit,
  };
}

/** A confirmation leaves the text as it is, but not what the index tells of it. */
const changedAt = ({ updatedAt, lastConfirmedAt }: Memory): Millis => Math.max(updatedAt, lastConfirmedAt ?? 0);

function byLane(memories: readonly Memory[]): Map<LaneId, Memory[]> {
  const lanes = new Map<LaneId, Memory[]>();
  for (const memory of memories) lanes.set(memory.lane, [...(lanes.get(memory.lane) ?? []), memory]);
  return lanes;
}
