import type { EngineDeps } from '../deps.ts';
import { asEngineError, type EngineError } from '../errors.ts';
import { laneOf, projectGraph } from '../graph/project.ts';
import { embedderIsAway, isDoubtful } from '../models/ask.ts';
import { embedApart } from '../models/embed.ts';
import { retryDelay } from '../models/pacing.ts';
import type { GraphItem } from '../ports/ledger/graph.ts';
import type { OutboxEntry, SetAside, SpokenBatch } from '../ports/ledger/outbox.ts';
import type { Embedder } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { LaneId, Millis } from '../words.ts';
import { type ProjectDeps, project } from './project.ts';

/** Memories projected in one go: small enough that a stop never waits long. */
const OUTBOX_MAX = 100;
/** Batches whose messages are: a batch may have two thousand. */
const BATCHES_MAX = 20;
/** Entities and relations that are: short texts, most of them embedded before. */
const GRAPH_MAX = 200;
/** Lanes set aside that are tried again in one pass: they take little from those that never failed. */
const AGAIN_MAX = 20;
/** How long the next passes do not ask an embedder that was found to be away: each question may take a minute. */
const AWAY_MS = 5_000;
/** So often the texts of a lane may fail together; then the ones at fault are looked for. */
const FAILURES_TOGETHER = 3;
/** Waits double with every failure; while only the embedder is away no further than this often, so that all are projected soon after. */
const AWAY_DOUBLINGS = 3;

export type SweepDeps = ProjectDeps & Pick<EngineDeps, 'log' | 'settings'>;

/** What one lane has for the index. */
interface LaneWork {
  readonly lane: LaneId;
  readonly entries: readonly OutboxEntry[];
  readonly batches: readonly SpokenBatch[];
  readonly items: readonly GraphItem[];
  /** How it was set aside before; null: it was not. */
  readonly aside: SetAside | null;
}

/**
 * Projects what the index missed, oldest first and lane by lane. A lane that cannot be projected is set aside in the ledger, with
 * a time of its own to be tried again, so that it never stands before the others; only an index or a ledger that is away ends
 * the pass. Answers with how many changes it projected and lanes it newly set aside: 0, there is nothing left to do now.
 */
export async function sweepOutbox(deps: SweepDeps, cancel: Cancellation): Promise<number> {
  const embedder = untilAway(deps, cancel);
  const ended: Ended = { projected: [], failed: [] };
  let done = 0;
  try {
    for (const work of [...(await freshWork(deps)), ...(await workAgain(deps))]) {
      if (cancel.aborted) break;
      const failure = await projectLane({ ...deps, embedder: embedderFor(work, embedder) }, work, cancel);
      done += failure === null ? sizeOf(work) : work.aside === null ? 1 : 0;
      if (failure === null) ended.projected.push(work);
      else ended.failed.push(setAside(deps, work, { failure, isAway: embedder.isAway() }));
    }
  } finally {
    await noteAside(deps, ended);
  }
  return done;
}

const embedderFor = ({ aside }: LaneWork, embedder: Embedder): Embedder =>
  aside !== null && aside.failures >= FAILURES_TOGETHER ? embedApart(embedder) : embedder;

interface Ended {
  readonly projected: LaneWork[];
  readonly failed: SetAside[];
}

async function noteAside({ ledger: { outbox } }: SweepDeps, { projected, failed }: Ended): Promise<void> {
  const back = projected.filter(({ aside }) => aside !== null).map(({ lane }) => lane);
  if (back.length > 0) await outbox.takeUp(back);
  if (failed.length > 0) await outbox.setAside(failed);
}

async function freshWork({ ledger }: SweepDeps): Promise<readonly LaneWork[]> {
  const entries = Map.groupBy(await ledger.outbox.pending(OUTBOX_MAX), ({ lane }) => lane);
  const batches = Map.groupBy(await ledger.speech.unprojected(BATCHES_MAX), ({ lane }) => lane);
  const items = Map.groupBy(await ledger.graph.unprojected(GRAPH_MAX), laneOf);
  return [...new Set([...entries.keys(), ...batches.keys(), ...items.keys()])].map((lane) => ({
    ...{ lane, aside: null, entries: entries.get(lane) ?? [] },
    ...{ batches: batches.get(lane) ?? [], items: items.get(lane) ?? [] },
  }));
}

/** What is left of a lane after this is projected with all the others. */
async function workAgain({ ledger, tools }: SweepDeps): Promise<readonly LaneWork[]> {
  const due = await ledger.outbox.aside(tools.now(), AGAIN_MAX);
  return Promise.all(
    due.map(async (aside) => ({
      ...{ lane: aside.lane, aside, entries: await ledger.outbox.ofLane(aside.lane, OUTBOX_MAX) },
      batches: await ledger.speech.unprojectedIn(aside.lane, BATCHES_MAX),
      items: await ledger.graph.unprojectedOf(aside.lane, GRAPH_MAX),
    })),
  );
}

const sizeOf = ({ entries, batches, items }: LaneWork): number => entries.length + batches.length + items.length;

/** Answers with what is wrong with this lane, if anything. Throws what is wrong for all of them. */
async function projectLane(deps: SweepDeps, work: LaneWork, cancel: Cancellation): Promise<EngineError | null> {
  try {
    await project(deps, work, cancel);
    await projectGraph(deps, work.items, cancel);
    return null;
  } catch (error) {
    const failure = asEngineError(error);
    const isOfStore = failure.code === 'index_unavailable' || failure.code === 'ledger_unavailable';
    if (cancel.aborted || (isOfStore && failure.retryable)) throw error;
    return failure;
  }
}

interface Failed {
  readonly failure: EngineError;
  readonly isAway: boolean;
}

function setAside(deps: SweepDeps, { lane, aside }: LaneWork, { failure, isAway }: Failed): SetAside {
  const { code, message } = failure;
  const now = deps.tools.now();
  const failures = (aside?.failures ?? 0) + 1;
  const notBefore = now + retryDelay(deps, isAway ? Math.min(failures, AWAY_DOUBLINGS) : failures, failure);
  const fields = { lane, code, error: message, failures, until: notBefore };
  if (isAway) deps.log.debug(fields, 'a lane is waiting for the embedder; it will be written to the index later');
  else deps.log.warn(fields, 'could not write a lane to the index; it is set aside and retried separately');
  return { lane, failures, notBefore, failure: { code, message, at: now } };
}

/** Those that were found to be away, by the passes of this process. */
const AWAY = new WeakMap<Embedder, { readonly failure: EngineError; readonly until: Millis }>();

/**
 * The embedder until it is known to be away: then nobody else of this pass waits for it, and lanes whose vectors are known go
 * on without. A failure that may be of the texts is told apart from one of the embedder by a question that any embedder answers.
 */
function untilAway(deps: SweepDeps, cancel: Cancellation): Embedder & { isAway(): boolean } {
  const { embedder, log, tools } = deps;
  const known = AWAY.get(embedder);
  let away: EngineError | null = known !== undefined && tools.now() < known.until ? known.failure : null;
  return {
    fingerprint: embedder.fingerprint,
    dimensions: embedder.dimensions,
    isAway: () => away !== null,
    embed: async (texts, given) => {
      if (away !== null) throw away;
      try {
        return await embedder.embed(texts, given);
      } catch (error) {
        const failure = asEngineError(error);
        if (!cancel.aborted && (!failure.countsAsTry || isDoubtful(failure)) && (await embedderIsAway(deps, cancel))) {
          log.warn(
            { code: failure.code, error: failure.message },
            'the embedder is unavailable; changes without vectors are waiting',
          );
          away = failure;
          AWAY.set(embedder, { failure, until: tools.now() + AWAY_MS });
        }
        throw error;
      }
    },
  };
}
