import { livesOf } from '../memories/former.ts';
import { KEY_OF, SAID_KINDS } from '../memories/said-ids.ts';
import { fallsWithout, saidUnder } from '../memories/withdrawn.ts';
import { BEFORE_ALL, removeSlice, SLICE } from '../memories/write.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { UndoResult, Withdrawer, WithdrawHow, Withdrawn } from '../ports/writers.ts';
import type { LaneId, Memory, NamedIds, TenantId } from '../words.ts';
import { type Decision, takeBack, takenBack, type UndoDeps } from './undo.ts';

/**
 * Takes back what was said under an agent, run or app, in the memories of all owners. A memory that was said elsewhere, too, stays as
 * it was said there; its part is a further undo of its owner, which can be redone. A memory without any other saying is forgotten.
 * In slices, so that others can write in between, and that whoever asks again goes on where it stopped.
 */
export const withdrawer = (deps: UndoDeps): Withdrawer => ({
  withdraw: (tenant, named, how) => withdraw(deps, { tenant, named }, how),
});

interface Said {
  readonly tenant: TenantId;
  readonly named: NamedIds;
}

async function withdraw(deps: UndoDeps, said: Said, how: WithdrawHow): Promise<Withdrawn> {
  const { saidIds } = deps.ledger;
  const asked = { named: said.named, now: BEFORE_ALL };
  let sum: Withdrawn = { deleted: 0, kept: 0, first: [], more: false, searchable: true };
  for (let cursor: string | null = null, more = true; more; more = cursor !== null) {
    if (!how.dryRun && sum.deleted + sum.kept >= how.most) return { ...sum, more: true };
    const page = await saidIds.memories(said.tenant, asked, { limit: SLICE, cursor });
    cursor = page.nextCursor;
    for (const [lane, memories] of Map.groupBy(page.results, (memory) => memory.lane)) {
      const done = how.dryRun ? wouldGo(memories, said.named) : await withdrawOfLane(deps, said, { lane, memories });
      sum = added(sum, done, how.listed);
    }
  }
  return sum;
}

const added = (sum: Withdrawn, done: Withdrawn, listed: number): Withdrawn => ({
  deleted: sum.deleted + done.deleted,
  kept: sum.kept + done.kept,
  first: [...sum.first, ...done.first].slice(0, listed),
  more: sum.more || done.more,
  searchable: sum.searchable && done.searchable,
});

function wouldGo(memories: readonly Memory[], named: NamedIds): Withdrawn {
  const first = memories.filter((memory) => fallsWithout(memory, named));
  return { deleted: first.length, kept: memories.length - first.length, first, more: false, searchable: true };
}

interface OfLane {
  readonly lane: LaneId;
  readonly memories: readonly Memory[];
}

/** More: something else kept changing them in between, and they are still to be done. */
async function withdrawOfLane(deps: UndoDeps, { tenant, named }: Said, { lane, memories }: OfLane): Promise<Withdrawn> {
  const ids = memories.map(({ id }) => id);
  const by = { actor: 'api', reason: `what was said under ${namesOf(named)} was withdrawn` } as const;
  const removed = await removeSlice(deps, tenant, { ids, by, without: named });
  const how = { tenant, dryRun: false };
  const taken = await takeBack(deps, how, () => decide(deps.ledger, { tenant, lane, ids, named, ...by }));
  const { count: deleted, first } = removed.kind === 'conflict' ? { count: 0, first: [] } : removed;
  return {
    deleted,
    kept: taken.kind === 'done' ? (taken.report.undo?.memories ?? 0) : 0,
    first,
    more: removed.kind === 'conflict' || taken.kind !== 'done',
    searchable: removed.kind !== 'unprojected' && (taken.kind !== 'done' || taken.searchable),
  };
}

const namesOf = (named: NamedIds): string =>
  SAID_KINDS.flatMap((kind) => (named[KEY_OF[kind]] === undefined ? [] : [`${kind} "${named[KEY_OF[kind]]}"`])).join(
    ' and ',
  );

interface Asked extends Said, Pick<Decision, 'lane' | 'actor' | 'reason'> {
  readonly ids: readonly string[];
}

/** Of the memories that stay: what was said of them under the ids. */
async function decide(ledger: Ledger, { ids, named, tenant, ...asked }: Asked): Promise<Decision | UndoResult> {
  const earlier = await ledger.undos.ofLane(asked.lane);
  const owner = (await ledger.lanes.get(asked.lane))?.owner;
  if (owner === undefined) return { kind: 'not_found' }; // erased in between
  const lives = (await livesOf(ledger, tenant, ids)).flatMap((life) => {
    if (fallsWithout(life.memory, named)) return [];
    const said = new Set(saidUnder(life.memory, named));
    return takenBack([life], ({ revision }) => said.has(revision));
  });
  const what = { kindOfUndo: 'withdrawal', consolidations: [], undos: [], to: null } as const;
  return { ...asked, earlier, owner, what, lives, statements: 0, dependents: [] };
}
