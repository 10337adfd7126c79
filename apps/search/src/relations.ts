import { setImmediate } from 'node:timers/promises';
import {
  asEngineError,
  besideOwner,
  type Filter,
  type FoundRelation,
  filterableOf,
  type GraphQuestion,
  idListsOf,
  isUnder,
  type LaneId,
  type Memory,
  matches,
  ownerOf,
  readGraph,
  scopeOf,
} from '@slowwave/engine';
import type { SearchDeps } from './deps.ts';
import { type Asked, type Deadline, deadlineOf, LATE, lateNote, type Question, wordsOf } from './question.ts';

/** The time limit of relations for searches without a time limit, in ms. */
const RELATIONS_LIMIT_MS = 2_000;
const SLOW = `relations omitted: not read within ${RELATIONS_LIMIT_MS} ms`;
/** How many more relations are read if they are filtered, so that enough remain. */
const NARROWED_FACTOR = 5;

/** The refusal for a key for one app. */
export const NO_RELATIONS = 'relations are shared by all apps, so remove them';

export interface Related {
  readonly asked: boolean;
  readonly relations: readonly FoundRelation[];
  /** What is missing, and why. */
  readonly missing: readonly string[];
}

/** The relations that a search requests, read while memories are searched. */
export async function relationsFor(deps: SearchDeps, question: Asked, deadline: Deadline): Promise<Related> {
  if (!question.body.include.includes('relations')) return { asked: false, relations: [], missing: [] };
  const limit = Math.min(RELATIONS_LIMIT_MS, question.body.timeout_ms ?? RELATIONS_LIMIT_MS);
  const own = deadlineOf(limit, deadline.signal);
  try {
    const relations = await own.within(async (signal) => {
      await afterMemories();
      return read(deps, question, signal);
    });
    if (relations === LATE) return without(limit === question.body.timeout_ms ? lateNote('relations') : SLOW);
    return { asked: true, relations, missing: [] };
  } catch (error) {
    deps.log.warn({ err: error }, 'could not read relations');
    return without(`relations omitted: could not be read (${asEngineError(error).code})`);
  } finally {
    own.end();
  }
}

/** Lets the memories be searched first: the index then has the owner's data at hand. */
const afterMemories = (): Promise<void> => setImmediate();

const without = (reason: string): Related => ({ asked: true, relations: [], missing: [reason] });

async function read(deps: SearchDeps, question: Asked, signal: AbortSignal): Promise<readonly FoundRelation[]> {
  const { top_k: limit } = question.body;
  const lane = (await question.living)?.id;
  if (lane === undefined) return [];
  const narrow = narrowingOf(question);
  if (narrow === null) return readGraph(deps, graphQuestion(deps, { question, lane, signal, limit }));
  const found = await readGraph(deps, graphQuestion(deps, { question, lane, signal, limit: limit * NARROWED_FACTOR }));
  return (await narrowed(deps, { found, question, narrow })).slice(0, limit);
}

interface Reading {
  readonly question: Question;
  readonly lane: LaneId;
  readonly signal: AbortSignal;
  readonly limit: number;
}

function graphQuestion(deps: SearchDeps, { question, lane, signal, limit }: Reading): GraphQuestion {
  const { tenant, body } = question;
  return {
    tenant,
    owner: ownerOf(scopeOf(body)),
    lane,
    text: body.query,
    terms: wordsOf(body.query),
    vector: body.mode === 'keyword' ? Promise.resolve(null) : vectorOf(deps, question, signal),
    vectors: deps.vectors,
    at: body.as_of === undefined ? null : Date.parse(body.as_of),
    ever: body.latest_only === false,
    now: deps.tools.now(),
    limit,
  };
}

/** The same vector as for memories. If there is none, the search of memories reports it, and keywords are used. */
const vectorOf = (
  { embedQuery }: SearchDeps,
  { tenant, body }: Question,
  signal: AbortSignal,
): Promise<Float32Array | null> => embedQuery({ tenant, text: body.query }, signal).catch(() => null);

/** The memories that a relation must come from; null: any. */
interface Narrowing {
  fits(memory: Memory): boolean;
}

/**
 * A relation only has an owner. Other ids and filters are checked on its memories, of which one must match. Relations
 * without memories are then omitted.
 */
function narrowingOf({ body, where }: Question): Narrowing | null {
  const owner = ownerOf(scopeOf(body));
  const ids = besideOwner(scopeOf(body));
  if (where === null && Object.keys(ids).length === 0) return null;
  return {
    fits: (memory) =>
      memory.owner.kind === owner.kind &&
      memory.owner.id === owner.id &&
      isUnder(idListsOf(memory), ids) &&
      passes(where, memory),
  };
}

const passes = (where: Filter | null, memory: Memory): boolean =>
  where === null || (memory.versions.length > 0 && matches(where, filterableOf(memory)));

interface Narrowed {
  readonly found: readonly FoundRelation[];
  readonly question: Question;
  readonly narrow: Narrowing;
}

async function narrowed({ ledger }: SearchDeps, { found, question, narrow }: Narrowed): Promise<FoundRelation[]> {
  const ids = [...new Set(found.flatMap(({ memoryIds }) => memoryIds))];
  const memories = ids.length === 0 ? [] : await ledger.memories.many(question.tenant, ids);
  const fitting = new Set(memories.filter(narrow.fits).map(({ id }) => id));
  return found.filter(({ memoryIds }) => memoryIds.some((id) => fitting.has(id)));
}
