import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { afford } from '../models/budget.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Nudge } from '../ports/schedule.ts';
import type { Cancellation } from '../ports/tools.ts';
import { project } from '../projection/project.ts';
import { apply } from './apply.ts';
import { decide } from './decide.ts';
import { extract } from './extract.ts';
import { gather, withGathered } from './gather.ts';
import { judge } from './judge.ts';
import { plan } from './plan.ts';
import { recall } from './recall.ts';
import { type Stopwatch, stopwatch } from './stopwatch.ts';
import type { GatheredTurn, Planned } from './values.ts';

/** Explicit writes may overtake a plan; after this many in one try the lane waits a little, and no try is counted. */
const OVERTAKEN_MAX = 5;
/** In ms. Longer than somebody edits without a pause; the next try goes on from the newest plan. */
const OVERTAKEN_PAUSE_MS = 1_000;

export interface Consolidated {
  /** What of the lane is due next. */
  readonly next: Nudge | null;
  /** The graph has a study of it to make. */
  readonly studied: boolean;
}

/**
 * One turn of a lane, from its messages to searchable memories. A step that was finished before a crash is not done
 * again: answers and plans are stored as soon as they are there, and taken from the store on the next try.
 */
export async function consolidate(given: EngineDeps, turn: Turn, cancel: Cancellation): Promise<Consolidated> {
  const watch = stopwatch(given.tools, (step) => given.meter.step(turn, step));
  const gathered = await watch.time('gather', () => gather(given, turn));
  const deps = withGathered(given, gathered);
  const stored = gathered.thought.plan;
  let planned: Planned =
    stored === null ? await think(deps, { gathered, watch, round: 1 }, cancel) : { ...gathered, plan: stored };
  for (let overtaken = 0; overtaken < OVERTAKEN_MAX; overtaken += 1) {
    const applied = await watch.time('apply', () => apply(deps, planned));
    if (applied.kind === 'applied') {
      deps.meter.facts(planned.plan.outcomes);
      await projectNow(deps, { planned, watch }, cancel);
      return { next: applied.next, studied: planned.plan.graph === true };
    }
    planned = await think(deps, { gathered, watch, round: planned.plan.round + 1 }, cancel);
  }
  throw new EngineError(
    'explicit writes kept changing the memories that were being decided on; the consolidation will be retried',
    {
      code: 'overtaken',
      retryable: true,
      retryAfterMs: OVERTAKEN_PAUSE_MS,
      countsAsTry: false,
    },
  );
}

interface Thinking {
  readonly gathered: GatheredTurn;
  readonly watch: Stopwatch;
  readonly round: number;
}

/** From messages to a stored plan, where the day's budget allows it. Nothing is changed yet. */
async function think(deps: EngineDeps, { gathered, watch, round }: Thinking, cancel: Cancellation): Promise<Planned> {
  const { turn, rules } = gathered;
  if (turn.settings.mode !== 'verbatim')
    await afford(deps, { tenant: turn.tenant, account: { lane: turn.lane }, rules });
  const extracted = await watch.time('extract', () => extract(deps, gathered, cancel));
  await deps.tools.breathe();
  const recalled = await watch.time('recall', () => recall(deps, extracted, cancel));
  await deps.tools.breathe();
  const decided = await watch.time('decide', () => decide(deps, recalled, cancel));
  const guarded = await judge(deps, decided);
  await deps.tools.breathe();
  return watch.time('plan', () => plan(deps, guarded, { round, timings: watch.timings() }));
}

/** An index that is down delays what is searchable and nothing else: the outbox is caught up later. */
async function projectNow(
  deps: EngineDeps,
  { planned, watch }: { planned: Planned; watch: Stopwatch },
  cancel: Cancellation,
): Promise<void> {
  const { outbox, speech } = deps.ledger;
  const { consolidationId, lane } = planned.turn;
  try {
    const entries = await outbox.ofConsolidation(consolidationId);
    const batches = await speech.unprojectedOf([consolidationId]);
    await watch.time('project', () => project(deps, { entries, batches, made: planned.vectors }, cancel));
  } catch (error) {
    deps.log.warn({ consolidation: consolidationId, lane, error: String(error) }, 'applied, but not searchable yet');
  }
}
