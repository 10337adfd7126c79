import type { SaidId } from '../ports/ledger/memories.ts';
import type { IdLists, Memory, Under } from '../words.ts';
import { inEffect } from './evolve.ts';

/** What the ids are called that something may be said under, beside its user's, and where a scope has them. */
export const SAID_KINDS = ['agent', 'run', 'app'] as const;
export type SaidKind = (typeof SAID_KINDS)[number];
export const KEY_OF = { agent: 'agentId', run: 'runId', app: 'appId' } as const satisfies Record<SaidKind, keyof Under>;

/** So many ids of a kind, the newest, are in the index; of the others it asks the ledger. */
const IDS_IN_INDEX = 32;

/**
 * The ids under which a memory was said or confirmed, of each kind the newest first. They follow from what counts of its
 * timeline, in whatever order it arrived: a confirmation is the last saying of its ids, and what is undone was under none.
 */
export function saidIds({ timeline }: Pick<Memory, 'timeline'>): readonly SaidId[] {
  const ids = new Map<string, Omit<SaidId, 'indexed'>>();
  for (const mark of inEffect(timeline)) {
    if (mark.kind !== 'said' || mark.under === undefined) continue;
    for (const kind of SAID_KINDS) {
      const id = mark.under[KEY_OF[kind]];
      if (id === null) continue;
      const { at } = mark.saidAt;
      const known = ids.get(`${kind} ${id}`) ?? { kind, id, first: at, last: at };
      ids.set(`${kind} ${id}`, { ...known, first: Math.min(known.first, at), last: Math.max(known.last, at) });
    }
  }
  const ofKind = Map.groupBy([...ids.values()].sort(newestFirst), ({ kind }) => kind);
  return [...ofKind.values()].flatMap((some) => some.map((one, place) => ({ ...one, indexed: place < IDS_IN_INDEX })));
}

type Sayings = Pick<SaidId, 'last' | 'id'>;

/** Of equal moments by id, the same on every machine. */
const newestFirst = (a: Sayings, b: Sayings): number => b.last - a.last || (a.id < b.id ? -1 : 1);

/** All ids of a memory, by kind. */
export const idListsOf = (memory: Pick<Memory, 'timeline'>): IdLists => listsOf(saidIds(memory));

/** Those that the index has. */
export const indexedIds = (memory: Pick<Memory, 'timeline'>): IdLists =>
  listsOf(saidIds(memory).filter(({ indexed }) => indexed));

function listsOf(ids: readonly SaidId[]): IdLists {
  const of = (kind: SaidKind): string[] => ids.flatMap((one) => (one.kind === kind ? [one.id] : []));
  return { agentId: of('agent'), runId: of('run'), appId: of('app') };
}

/** Of something that was said once. */
export const listsOfOne = ({ agentId, runId, appId }: Under): IdLists => ({
  agentId: agentId === null ? [] : [agentId],
  runId: runId === null ? [] : [runId],
  appId: appId === null ? [] : [appId],
});
