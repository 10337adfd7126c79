import type { EngineDeps } from './deps.ts';
import { EngineError } from './errors.ts';
import { indexPage } from './index-page.ts';
import type { BuildNote, IndexBuild } from './ports/index-build.ts';
import type { IndexLane } from './ports/search-index.ts';
import type { Cancellation } from './ports/tools.ts';
import { markerOf } from './rules/own-index.ts';
import type { Millis } from './words.ts';

export interface RebuildProgress {
  /** all: every memory, once; changes: those changed meanwhile; last changes: those changed until everybody moved. */
  readonly pass: 'all' | 'changes' | 'last changes';
  /** Memories behind it in this pass, also by an earlier try. */
  readonly memories: number;
  /** Points written since the rebuild began, also by an earlier try. */
  readonly points: number;
}

export interface Rebuilt {
  readonly memories: number;
  readonly points: number;
  /** It went on where an earlier try had stopped. */
  readonly resumed: boolean;
}

export interface Rebuilding {
  readonly cancel: Cancellation;
  readonly onProgress?: (progress: RebuildProgress) => void;
}

type RebuildDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>;

/** Small enough that little is done again after a stop. */
const MEMORIES_PER_PAGE = 200;
/** Clocks of processes that write to one ledger may be this far apart. */
const CLOCKS_APART_MS = 300_000;

/**
 * Builds the index anew from the ledger beside the one in use, then lets it take over. Stopped anywhere, it goes on there:
 *
 *   all           every memory, page by page; the place is noted in the new index after each page
 *   changes       what was changed since the beginning, so that little is left to do after the move
 *   take over     whoever has another embedder is refused from here on, and waits
 *   last changes  what was written to the old index while `changes` ran
 *   finish        only now the new index is believed
 *
 * Nothing that others write meanwhile is missed: a change is in the ledger before any index is told of it. What was in
 * the ledger when a walk read it is written by that walk, and what came later by the next one, or by whoever tells
 * the index that has taken over.
 */
export async function rebuildIndex(deps: RebuildDeps, build: IndexBuild, how: Rebuilding): Promise<Rebuilt> {
  const { ledger, embedder, tools } = deps;
  const known = await build.begun(ledger.id);
  const start = known ?? { ledgerId: ledger.id, startedAt: tools.now(), after: null, memories: 0, points: 0 };
  if (known === null) await build.begin(start);
  const walk = walker({ deps, build, how });
  const all = await walk(start, { pass: 'all', changedSince: null });
  const changesFrom = tools.now();
  const changed = await walk(all, { pass: 'changes', changedSince: start.startedAt - CLOCKS_APART_MS });
  await build.takeOver();
  const last = await walk(changed, { pass: 'last changes', changedSince: changesFrom - CLOCKS_APART_MS });
  await build.finish(markerOf(ledger, embedder));
  return { memories: all.memories, points: last.points, resumed: known !== null };
}

interface Pass {
  readonly pass: RebuildProgress['pass'];
  readonly changedSince: Millis | null;
}

interface Walking {
  readonly deps: RebuildDeps;
  readonly build: IndexBuild;
  readonly how: Rebuilding;
}

/** One walk through the ledger. The place is noted only while every memory is written: the others are walked again. */
const walker =
  ({ deps, build, how }: Walking) =>
  async (from: BuildNote, { pass, changedSince }: Pass): Promise<BuildNote> => {
    const whole = pass === 'all';
    let note = from;
    let { after, memories } = whole ? from : { after: null, memories: 0 };
    for (;;) {
      refuseIfStopped(how.cancel);
      const page = await indexPage(deps, { after, limit: MEMORIES_PER_PAGE, changedSince }, how.cancel);
      await build.write(page.points);
      await build.withdraw(page.withdrawals);
      await takeBack(deps, build, [...page.points, ...page.withdrawals]);
      memories += page.memories;
      note = { ...note, points: note.points + page.points.length };
      if (whole) {
        note = { ...note, after: page.last ?? after, memories };
        await build.note(note);
      }
      how.onProgress?.({ pass, memories, points: note.points });
      if (!page.more) return note;
      after = page.last;
    }
  };

function refuseIfStopped({ aborted }: Cancellation): void {
  if (!aborted) return;
  throw new EngineError('the rebuild was stopped; it goes on when it is started again', {
    code: 'cancelled',
    retryable: true,
  });
}

/** Who was being erased while the page was read: whoever erases them may have passed this index already. */
async function takeBack({ ledger }: RebuildDeps, build: IndexBuild, told: readonly IndexLane[]): Promise<void> {
  const lanes = new Map(told.map(({ tenant, owner, lane }) => [lane, { tenant, owner, lane }]));
  for (const of of lanes.values()) if (!(await ledger.erasures.standing(of.lane))) await build.forget(of);
}
