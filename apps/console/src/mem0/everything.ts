import { countMore, type FastifyRequest, problem } from '@slowwave/http';
import type { Ask } from './ask.ts';
import { type Json, queryText } from './scope.ts';

interface Listed<T> {
  readonly results: readonly T[];
  readonly next_cursor: string | null;
}

const PAGE = 200;
/** mem0 counts whatever it lists, so all of it is read; with more than this that would take too long. */
const MOST = 20_000;

export interface Wanted {
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly filters?: Json;
}

/** A whole list of our own API. */
export async function everything<T>(ask: Ask, request: FastifyRequest, { path, query, filters }: Wanted): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const filter = filters === undefined ? {} : { filters: JSON.stringify(filters) };
    const at = `${path}${queryText({ ...query, ...filter, limit: PAGE, ...(cursor !== undefined && { cursor }) })}`;
    const page: Listed<T> = await ask(request, { method: 'GET', path: at });
    all.push(...page.results);
    if (all.length > MOST) throw tooMany(path);
    cursor = page.next_cursor ?? undefined;
    if (cursor !== undefined) countMore(request, 1);
  } while (cursor !== undefined);
  return all;
}

const tooMany = (path: string) =>
  problem('invalid_request', `there are more than ${MOST}, too many to count; page through GET ${path} with cursor`);
