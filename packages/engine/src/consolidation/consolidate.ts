import type { EngineDeps } from '../deps.ts';
import { EngineError, FencedError } from '../errors.ts';
import type { FiguresOfModel } from '../figures/figures.ts';
import { measuredOf } from '../figures/measure.ts';
import { rungOn } from '../limits/economy.ts';
import { evolve, tombstoneOf } from '../memories/evolve.ts';
import type { Attack } from '../messages/messages.ts';
import { afford, costOf, usageOf, usesOf } from '../models/limits.ts';
import type { RawOperation } from '../models/parse/listed.ts';
import { plannedModels } from '../models/steps.ts';
import type {
  Candidate,
  Discard,
  Fact,
  FactOutcome,
  HeldOperation,
  Operation,
  Plan,
  PromptUse,
  Remark,
  SeenAttack,
} from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { MemoryChange, Tombstone, WishToForget } from '../ports/ledger/memories.ts';
import type { Gathered, Stored, StoredAnswer } from '../ports/ledger/thoughts.ts';
import type { Nudge, SummaryRefresh } from '../ports/schedule.ts';
import { askedInSlices, type Cancellation, type MeasuredStep, type Tools } from '../ports/tools.ts';
import { project, projectRest } from '../projection/project.ts';
import { duePolicy, isStudied } from '../settings.ts';
import { economised, waitForGate } from '../suites/gate.ts';
import { dayOf } from '../text/dates.ts';
import { hasFacts, isWithheld, type Memory, type MemoryEvent } from '../words.ts';
import { decide } from './decide.ts';
import { extract } from './extract.ts';
import { judge } from './judge.ts';
import { type Repeat, recall } from './recall.ts';

/** Explicit writes may overtake a plan; after this many in one try the lane waits a little, and no try is counted. */
const OVERTAKEN_MAX = 5;
/** In ms. Longer than somebody edits without a pause; the next try goes on from the newest plan. */
const OVERTAKEN_PAUSE_MS = 1_000;

interface Consolidated {
  /** What of the lane is due next. */
  readonly next: Nudge | null;
  /** The graph has a study of it to make. */
  readonly studied: boolean;
  /** The summary of its conversation lags behind. */
  readonly summary: SummaryRefresh | null;
}

/** In messages. A refresh costs a model call; the last ten messages are read as they are, so that a summary may lag behind. */
export const SUMMARY_EVERY = 20;

/**
 * One turn of a lane, from its messages to searchable memories. A step that was finished before a crash is not done
 * again: answers are stored as soon as they are there, and taken from the store on the next try; a plan, with what it changes.
 */
export async function consolidate(given: EngineDeps, begun: BegunTurn, cancel: Cancellation): Promise<Consolidated> {
  const { turn } = begun;
  const watch = stopwatch(given.tools, (step) => given.meter.step(turn, step));
  const gathered = await watch.time('gather', () => gather(given, turn, begun.gathered));
  const { deps, settled } = withGathered(given, gathered);
  try {
    return await thinkAndApply(deps, { gathered, watch }, cancel);
  } finally {
    await settled();
  }
}

async function thinkAndApply(
  deps: EngineDeps,
  { gathered, watch }: Omit<Thinking, 'round'>,
  cancel: Cancellation,
): Promise<Consolidated> {
  const { turn } = gathered;
  const stored = gathered.thought.plan;
  let planned: Planned =
    stored === null
      ? await think(deps, { gathered, watch, round: 1 }, cancel)
      : { ...gathered, plan: stored, isStored: true };
  for (let overtaken = 0; overtaken < OVERTAKEN_MAX; overtaken += 1) {
    const applied = await watch.time('apply', () => apply(deps, planned));
    if (applied.kind === 'applied') {
      deps.meter.facts(planned.plan.outcomes);
      deps.meter.attacks(kindsOf(planned.plan));
      if (applied.measured !== null) deps.meter.figures(turn.tenant, applied.measured);
      const summary = await projectNow(deps, { planned, watch }, cancel);
      return { next: applied.next, studied: planned.plan.graph === true, summary };
    }
    await keepOvertaken(deps, planned);
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

const kindsOf = ({ attacks = [] }: Plan): readonly Attack[] => attacks.flatMap(({ kinds }) => kinds);

interface Thinking {
  readonly gathered: GatheredTurn;
  readonly watch: Stopwatch;
  readonly round: number;
}

/** From messages to a plan, where the day's budget allows it. Nothing is changed yet. */
async function think(deps: EngineDeps, { gathered, watch, round }: Thinking, cancel: Cancellation): Promise<Planned> {
  const { turn } = gathered;
  await waitForGate(deps, gathered);
  if (turn.settings.mode !== 'verbatim')
    await afford(deps, { tenant: turn.tenant, account: { lane: turn.lane }, terms: gathered });
  const guarded = await guardedOf(deps, { gathered, watch }, cancel);
  const plan = await watch.time('plan', () => draft(deps, guarded, { round, timings: watch.timings() }));
  return { ...guarded, plan, isStored: false };
}

/** All of the thinking: what would be done, and why. */
async function guardedOf(
  deps: EngineDeps,
  { gathered, watch }: Omit<Thinking, 'round'>,
  cancel: Cancellation,
): Promise<Guarded> {
  const extracted = await watch.time('extract', () => extract(deps, gathered, cancel));
  await deps.tools.breathe();
  const recalled = await watch.time('recall', () => recall(deps, extracted, cancel));
  await deps.tools.breathe();
  const decided = await watch.time('decide', () => decide(deps, recalled, cancel));
  const guarded = await judge(deps, decided);
  await deps.tools.breathe();
  return guarded;
}

/** The whole plan of what was gathered, which is stored nowhere. */
export async function planOf(deps: EngineDeps, gathered: GatheredTurn, cancel: Cancellation): Promise<Plan> {
  const watch = stopwatch(deps.tools, () => {});
  const guarded = await guardedOf(deps, { gathered, watch }, cancel);
  return draft(deps, guarded, { round: 1, timings: watch.timings() });
}

/**
 * An index that is down delays what is searchable and nothing else: the outbox is caught up later. Answers with the summary that is
 * due. Turns that read none ask for none: messages stored word for word reach no model at all.
 */
async function projectNow(
  deps: EngineDeps,
  { planned, watch }: { planned: Planned; watch: Stopwatch },
  cancel: Cancellation,
): Promise<SummaryRefresh | null> {
  const { turn } = planned;
  let summary: SummaryRefresh | null = null;
  try {
    const left = await deps.ledger.outbox.ofConsolidation(turn, hasFacts(turn.settings) ? SUMMARY_EVERY : null);
    ({ summary } = left);
    await watch.time('project', () => project(deps, { ...left, made: planned.vectors }, cancel));
    if (forgets(planned.plan)) await projectRest(deps, turn.lane, cancel);
  } catch (error) {
    const fields = { consolidation: turn.consolidationId, lane: turn.lane, error: String(error) };
    deps.log.warn(fields, 'applied, but not searchable yet');
  }
  return summary;
}

export interface BegunTurn {
  readonly turn: Turn;
  /** What its claim has read; null: that is still to be read. */
  readonly gathered: Gathered | null;
}

/** What the turn is about: its pinned messages, what was said before them, and what the tenant has chosen. */
export async function gather(deps: EngineDeps, turn: Turn, claimed: Gathered | null = null): Promise<GatheredTurn> {
  const gathered = claimed ?? (await deps.ledger.thoughts.gather(turn, deps.settings.recentMessages));
  const rules = await economised(deps, turn, gathered.rules);
  return { turn, ...gathered, rules, recent: gathered.recent.filter(({ content }) => !isWithheld(content)) };
}

interface Ongoing {
  readonly deps: EngineDeps;
  /** Nothing is being stored any more. */
  settled(): Promise<unknown>;
}

/**
 * What a turn goes on with that has read all this: what is its own, or holds for all of it, is not read again. Answers and vectors are
 * stored while the turn goes on; they are there before its next question is asked, and before a plan is made of them.
 */
function withGathered(deps: EngineDeps, { turn, rules, thought }: GatheredTurn): Ongoing {
  const { ledger } = deps;
  const { settings, thoughts } = ledger;
  const storing: Promise<Stored | null>[] = [];
  const goOn = (one: Promise<Stored | null>): void => {
    one.catch(() => {}); // whoever waits for it hears of it
    storing.push(one);
  };
  const allStored = async (): Promise<void> => {
    const stored = await Promise.all(storing);
    if (stored.some((one) => one?.kind === 'fenced')) throw new FencedError(turn.consolidationId);
  };
  const answers = [...thought.answers];
  const answerTo = (step: string, inputHash: string): StoredAnswer | null =>
    [...answers, ...thought.former.toReversed()].find((one) => one.step === step && one.inputHash === inputHash) ??
    null;
  const made: EngineDeps = {
    ...deps,
    ledger: {
      ...ledger,
      settings: {
        ...settings,
        get: async (tenant) => (tenant === turn.tenant ? rules : settings.get(tenant)),
      },
      thoughts: {
        ...thoughts,
        answer: async (_, step, inputHash) => answerTo(step, inputHash),
        answers: async () => {
          await allStored();
          return answers;
        },
        lastLook: async (of, asked, call) => {
          await allStored();
          const look = await thoughts.lastLook(of, asked, call);
          if (look.answer !== null) answers.push(look.answer);
          return look;
        },
        storeAnswer: async (of, answer, call) => {
          goOn(thoughts.storeAnswer(of, answer, call));
          if (!answers.some((one) => isSame(one, answer))) answers.push(answer);
          return { kind: 'stored' };
        },
        storeVectors: async (...vectors) => goOn(thoughts.storeVectors(...vectors).then(() => null)),
      },
    },
  };
  return { deps: made, settled: () => Promise.allSettled(storing) };
}

/** Whether both answer the same question. */
const isSame = (a: StoredAnswer, b: StoredAnswer): boolean => a.step === b.step && a.inputHash === b.inputHash;

/** What was decided and came too late stays on record, and the next round is counted from it. */
async function keepOvertaken({ ledger }: EngineDeps, { turn, plan, isStored }: Planned): Promise<void> {
  const stored = isStored ? null : await ledger.thoughts.storePlan(turn, plan);
  if (stored?.kind === 'fenced') throw new FencedError(turn.consolidationId);
}

/** The plan as such, from what was thought and what the ledger has of the answers. */
async function draft(deps: EngineDeps, guarded: Guarded, attempt: Attempt): Promise<Plan> {
  const { turn, rules, facts, discards, candidates, operations, held, outcomes, remarks, attacks, events, prompts } =
    guarded;
  const models = usesOf(await deps.ledger.thoughts.answers(turn.consolidationId), rules.prices);
  return {
    ...{ consolidationId: turn.consolidationId, round: attempt.round },
    ...{ facts, discards, candidates, operations, held, outcomes, remarks, events, prompts },
    ...(attacks.length > 0 && { attacks }),
    models: plannedModels(deps, rules),
    usage: usageOf(models),
    cost: costOf(models),
    timings: attempt.timings,
    ...(turn.variant !== null && { variant: turn.variant }),
    ...(turn.rung !== undefined && { rung: turn.rung }),
    ...(isStudied(turn, rules) && { graph: true }),
  };
}

interface Attempt {
  readonly round: number;
  readonly timings: Readonly<Record<string, number>>;
}

type AppliedTurn =
  | { readonly kind: 'applied'; readonly next: Nudge | null; readonly measured: FiguresOfModel | null }
  /** Explicit writes came between: the plan no longer fits, and nothing was changed. */
  | { readonly kind: 'overtaken' };

/** Carries a plan out and stores it, in one transaction of the ledger. */
async function apply(deps: EngineDeps, planned: Planned): Promise<AppliedTurn> {
  const { ledger, tools, settings } = deps;
  const { turn, plan, rules, isStored } = planned;
  const now = tools.now();
  // Recorded now, not when it was thought of: only from here on anybody can see it.
  const events = plan.events.map((event) => ({ ...event, recordedAt: now }));
  const ids = [...new Set(events.map((event) => event.memoryId))];
  // What begins with the plan is not there yet; if it is, the ledger says so when it applies the plan.
  const begun = new Set(events.filter(({ revision }) => revision === 1).map(({ memoryId }) => memoryId));
  const changed = ids.filter((id) => !begun.has(id));
  const known = await askedInSlices(tools, changed, (some) => ledger.memories.many(turn.tenant, some));
  const memories = new Map(known.map((memory) => [memory.id, memory]));
  const eventsOf = Map.groupBy(events, (event) => event.memoryId);
  const changes: (MemoryChange | null)[] = [];
  for (const id of ids) {
    changes.push(changeOf(planned, memories.get(id) ?? null, eventsOf.get(id) ?? []));
    await tools.breathe();
  }
  if (changes.includes(null)) return { kind: 'overtaken' };
  const measured = await measuredOf(deps, planned);
  await tools.breathe();
  const applied = await ledger.memories.apply(turn, {
    plan: isStored ? null : plan,
    changes: changes.filter((change) => change !== null),
    tombstones: events.flatMap((event) => tombstoneOf(tools, event)),
    reviews: plan.held,
    batches: endings(planned),
    wishes: wishesOf(plan),
    attacks: plan.attacks ?? [],
    graph: plan.graph === true,
    measured,
    now,
    policy: duePolicy(rules, settings.due, rungOn(planned.economy, dayOf(now))),
  });
  if (applied.kind === 'fenced') throw new FencedError(turn.consolidationId);
  return applied.kind === 'conflict' ? { kind: 'overtaken' } : { ...applied, measured };
}

/** What is forgotten takes what other consolidations made with it. */
const forgets = ({ events, outcomes }: Plan): boolean =>
  events.some((event) => event.forgets === true) || outcomes.some(({ wish }) => wish === true);

/** In each message that a wish came from; where its words do not stand there, all of the message says it. */
function wishesOf({ facts, outcomes }: Plan): readonly WishToForget[] {
  const told = new Map(facts.map((fact) => [fact.id, fact]));
  return outcomes.flatMap(({ fact, wish, about }) => {
    const { quote = null, sourceIds = [] } = told.get(fact) ?? {};
    const memoryIds = about ?? (wish === true ? [null] : []);
    return sourceIds.flatMap((messageId) => memoryIds.map((memoryId) => ({ messageId, quote, memoryId })));
  });
}

/** null: the memory is no longer the one that was decided on. */
function changeOf({ turn }: Planned, memory: Memory | null, events: MemoryEvent[]): MemoryChange | null {
  const expectedRevision = (events[0]?.revision ?? 1) - 1;
  if ((memory?.revision ?? 0) !== expectedRevision) return null;
  const { tenant, lane, owner, scope } = turn;
  return { memory: evolve({ tenant, lane, owner, scope }, memory, events), expectedRevision, events };
}

/** A batch none of whose messages brought a fact is empty. */
function endings({ turn, messages, plan }: Planned): Map<string, 'consolidated' | 'empty'> {
  const sources = new Set(plan.facts.flatMap((fact) => fact.sourceIds));
  const fruitful = new Set(messages.filter((message) => sources.has(message.id)).map((message) => message.batchId));
  return new Map(turn.batchIds.map((id) => [id, fruitful.has(id) ? 'consolidated' : 'empty']));
}

/** Adds up how long named pieces of work took, in milliseconds. */
interface Stopwatch {
  time<T>(name: string, work: () => Promise<T>): Promise<T>;
  timings(): Readonly<Record<string, number>>;
}

/** `ended` learns of every piece of work as it ends. */
function stopwatch(tools: Pick<Tools, 'now'>, ended: (step: MeasuredStep) => void): Stopwatch {
  const spent = new Map<string, number>();
  return {
    time: async (step, work) => {
      const startedAt = tools.now();
      let failed = true;
      try {
        const made = await work();
        failed = false;
        return made;
      } finally {
        const endedAt = tools.now();
        spent.set(step, (spent.get(step) ?? 0) + endedAt - startedAt);
        ended({ step, failed, startedAt, endedAt });
      }
    },
    timings: () => Object.fromEntries(spent),
  };
}

/*
 * The value each step hands to the next. Every step adds to what it was given and calls no earlier one.
 */

export interface GatheredTurn extends Gathered {
  readonly turn: Turn;
  /** Of the facts, and of what the messages say where that is embedded with them: for the index. */
  readonly vectors?: ReadonlyMap<string, Float32Array> | undefined;
}

export interface Extracted extends GatheredTurn {
  readonly facts: readonly Fact[];
  readonly discards: readonly Discard[];
  readonly remarks: readonly Remark[];
  readonly prompts: readonly PromptUse[];
}

export interface Recalled extends Extracted {
  readonly candidates: readonly Candidate[];
  /** The memories behind the candidates, as the ledger has them, by id; for a batch kept to one app, as it knows them. */
  readonly memories: ReadonlyMap<string, Memory>;
  /** Those of them that other apps were told, too, for such a batch. */
  readonly shared: ReadonlySet<string>;
  /** Facts that only repeat a memory or an earlier fact, word for word: decided without a model. */
  readonly repeats: ReadonlyMap<string, Repeat>;
  /** Later deletions of exactly these texts, by fact. */
  readonly tombstones: ReadonlyMap<string, Tombstone>;
  /** Some fact is near a memory or another fact: there is something to decide. */
  readonly undecided: boolean;
}

export interface Decided extends Recalled {
  /** null: no model was asked. */
  readonly asked: readonly RawOperation[] | null;
}

export interface Guarded extends Decided {
  readonly operations: readonly Operation[];
  readonly held: readonly HeldOperation[];
  readonly outcomes: readonly FactOutcome[];
  readonly attacks: readonly SeenAttack[];
  readonly events: readonly MemoryEvent[];
}

interface Planned extends GatheredTurn {
  readonly plan: Plan;
  /** It was overtaken before; the ledger has it. */
  readonly isStored: boolean;
}
