import type { PostSearch } from '@slowwave/contracts';
import {
  type Asker,
  type Filter,
  type Lane,
  type LaneId,
  ownerOf,
  readFilter,
  type ScopeIds,
  scopeOf,
  type TenantId,
  terms,
} from '@slowwave/engine';
import { principalOf, problem } from '@slowwave/http';
import type { SearchDeps } from './deps.ts';

export interface Question {
  readonly tenant: TenantId;
  readonly body: PostSearch;
  /** The parsed filter of the body. */
  readonly where: Filter | null;
  /** The app that the key is bound to; null: none. */
  readonly app: string | null;
  /** The lane to search; nothing is found once it has ended. Default: the current one. */
  readonly lane?: LaneId | null;
  /** The owner's current lane, where it is known already. */
  readonly living?: Promise<Lane | null>;
  /** Whom calls of models are counted to. */
  readonly asker: Asker;
  /** Aborts when the caller disconnects. */
  readonly cancel?: AbortSignal;
}

/** A question with the owner's current lane. */
export interface Asked extends Question {
  /** null: the owner has none. */
  readonly living: Promise<Lane | null>;
}

/**
 * The owner's current lane. The index may still contain data of an erased user of the same id, and only the ledger can
 * distinguish the two. So nothing is searched while the ledger is unavailable.
 */
export async function livingLane(
  { ledger }: Pick<SearchDeps, 'ledger'>,
  { tenant, body, lane }: Pick<Question, 'tenant' | 'lane'> & { readonly body: ScopeIds },
): Promise<Lane | null> {
  const found = await ledger.lanes.find(tenant, ownerOf(scopeOf(body)));
  return found !== null && (lane === undefined || lane === found.id) ? found : null;
}

export const askerOf = (request: Parameters<typeof principalOf>[0], { app_id }: ScopeIds): Asker => ({
  appId: app_id ?? null,
  keyId: principalOf(request).keyId,
});

/** Characters of a query that are split into words: splitting 20,000 would block all others for 30 ms. */
const WORDS_OF_MAX = 4_000;

/** The terms of a query. */
export const wordsOf = (query: string): readonly string[] => terms(query.slice(0, WORDS_OF_MAX));

/** The filter of a body; null without one. */
export const filterOf = (json: unknown): Filter | null => (json === undefined ? null : readFilter(json));

export const emptyQuery = () =>
  problem(
    'invalid_request',
    'expected text in query, got none; use GET /v1/memories to list memories without a query',
    {
      errors: [{ path: 'query', message: 'expected text, got none' }],
    },
  );

/** The result of work that was not done in time. */
export const LATE = Symbol('late');

/** The time limit of a request. */
export interface Deadline {
  /** Aborts when the time is up or nobody waits any more. */
  readonly signal: AbortSignal;
  /** The result of work, or LATE. The signal of late work aborts, and its failure is ignored. */
  within<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof LATE>;
  /** Aborts what is still running. */
  end(): void;
}

/** `timeoutMs` undefined: no limit. `cancel` aborts when the caller disconnects. */
export function deadlineOf(timeoutMs: number | undefined, cancel?: AbortSignal): Deadline {
  const abort = new AbortController();
  const timeUp = Promise.withResolvers<typeof LATE>();
  const end = (): void => {
    timeUp.resolve(LATE);
    abort.abort();
    clearTimeout(timer);
    cancel?.removeEventListener('abort', end);
  };
  const timer = timeoutMs === undefined ? undefined : setTimeout(end, timeoutMs);
  cancel?.addEventListener('abort', end, { once: true });
  if (cancel?.aborted) end();
  return {
    signal: abort.signal,
    within: async <T>(work: (signal: AbortSignal) => Promise<T>): Promise<T | typeof LATE> => {
      if (abort.signal.aborted) return LATE;
      const running = work(abort.signal).catch((error: unknown): typeof LATE => {
        if (abort.signal.aborted) return LATE;
        throw error;
      });
      return Promise.race<T | typeof LATE>([running, timeUp.promise]);
    },
    end,
  };
}

/** The note about something that was omitted because of the time limit. */
export const lateNote = (what: string): string => `${what} omitted: not done within timeout_ms`;
