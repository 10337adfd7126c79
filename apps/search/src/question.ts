import type { PostSearch } from '@slowwave/contracts';
import {
  type Filter,
  FilterError,
  type LaneId,
  ownerOf,
  readFilter,
  type ScopeIds,
  scopeOf,
  type TenantId,
  terms,
} from '@slowwave/engine';
import { problem } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';

export interface Question {
  readonly tenant: TenantId;
  readonly body: PostSearch;
  /** The filter of the body, as it was read. */
  readonly where: Filter | null;
  /** The app to which who asks is kept; null: to none. */
  readonly app: string | null;
  /** The owner's life that is asked about: where it is over, nothing is found. Whichever it lives now, unless given. */
  readonly lane?: LaneId | null;
  /** Aborts when who asks is gone. */
  readonly cancel?: AbortSignal;
}

/** A question, and the owner's life that it is asked of. */
export interface Asked extends Question {
  /** null: the owner has none. */
  readonly living: Promise<LaneId | null>;
}

/**
 * The lane in which the owner lives: the index may still have what an erased user of the same id had, and only the ledger knows
 * which of the two is asked about. So nothing is searched while the ledger does not answer.
 */
export async function livingLane(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  { tenant, body, lane }: Pick<Question, 'tenant' | 'lane'> & { readonly body: ScopeIds },
): Promise<LaneId | null> {
  const found = await ledger.lanes.find(tenant, ownerOf(scopeOf(body)));
  return found !== null && (lane === undefined || lane === found.id) ? found.id : null;
}

/** Characters of a question that are looked for word by word: taking 20,000 apart would hold up all others for 30 ms. */
const WORDS_OF_MAX = 4_000;

/** The terms that a question is looked for by. */
export const wordsOf = (query: string): readonly string[] => terms(query.slice(0, WORDS_OF_MAX));

/** The filter of a body; null without one. */
export const filterOf = (json: unknown): Filter | null => (json === undefined ? null : readFilter(json));

/** The filter of a query, as JSON in one text; null without one. */
export const filterIn = (text: string | undefined): Filter | null =>
  text === undefined ? null : readFilter(parsed(text));

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new FilterError('filters', 'an object as JSON, percent-encoded', 'text that is not JSON');
  }
}

export const emptyQuery = () =>
  problem(
    'invalid_request',
    'expected text in query, got none; use GET /v1/memories to list memories without a query',
    {
      errors: [{ path: 'query', message: 'expected text, got none' }],
    },
  );
