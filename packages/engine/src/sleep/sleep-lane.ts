import type { EngineDeps } from '../deps.ts';
import { asEngineError, EngineError, FencedError } from '../errors.ts';
import { ownerBitsOf, ownerHashOf, spaceIn } from '../ids.ts';
import { idListsOf } from '../memories/evolve.ts';
import { EXPLICIT_SEQ } from '../memories/write.ts';
import { DEFAULT_CATEGORIES } from '../models/prompts/consolidation.ts';
import { forStep } from '../models/steps.ts';
import type { HeldOperation, Plan } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { type Night, type NightEnd, type NightWaits, TOPIC_OWNERS, type Topic } from '../ports/ledger/nights.ts';
import type { FollowUps, SleepHandler } from '../ports/schedule.ts';
import type { Cancellation } from '../ports/tools.ts';
import { memoriesOf } from '../retention/retain.ts';
import type { SleepSettings, TenantSettings } from '../settings.ts';
import { zoneClock } from '../text/dates.ts';
import { endOfTry, failTry, fencedBy, SILENCES } from '../turns/apart.ts';
import type { LaneId, Memory, MemoryEvent, Millis, Owner } from '../words.ts';
import { type Live, liveOf } from './drafts.ts';
import { planNight, type Sleeping } from './plan-night.ts';
import { changesOf, projectNight } from './settle.ts';

/** How one try at a night ended. */
export type NightOutcome = 'applied' | 'waiting' | 'rested' | 'given_back' | 'retry' | 'failed' | 'fenced';

interface SleepDeps extends EngineDeps {
  readonly slept: (outcome: NightOutcome) => void;
  /** How long a worker may be silent before it is taken for dead. */
  readonly takeOverMs: Millis;
}

/** Owners of one tenant in one pass of the sweep: those of others come in between. */
const OWNERS_PER_TENANT = 20;
const HOUR_MS = 3_600_000;
/** So many of an owner's memories may change in any night: of few memories, a share is less than one merge. */
const CHANGES_LEAST = 5;
/** Explicit writes may overtake a plan; after this many in one try the night waits. */
const OVERTAKEN_MAX = 5;
const OVERTAKEN_PAUSE_MS = 60_000;

/** Asks for the nights that are due, the owners of each tenant in turn. Answers how many. */
export async function sweepNights(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  followUps: Pick<FollowUps, 'sleep'>,
): Promise<number> {
  const now = tools.now();
  const due: (readonly LaneId[])[] = [];
  for (const tenant of await ledger.retention.tenants()) {
    if (spaceIn(tenant) !== null) continue; // a what-if is looked at as it is
    const { sleep } = await ledger.settings.get(tenant);
    if (sleep.mode === 'off' || !isNight(sleep, now)) continue;
    const quietSince = now - sleep.idleHours * HOUR_MS;
    due.push(await ledger.nights.due(tenant, { quietSince, now, limit: OWNERS_PER_TENANT }));
  }
  const inTurn = Array.from({ length: OWNERS_PER_TENANT }, (_, i) => due.flatMap((lanes) => lanes[i] ?? [])).flat();
  if (inTurn.length > 0) await followUps.sleep(inTurn);
  return inTurn.length;
}

/** What a worker does with one job. Tries and waits are the ledger's. Answers when to come back; null: nothing is left. */
export const sleepLane =
  (deps: SleepDeps): SleepHandler =>
  async (id, cancel) => {
    const { ledger, tools } = deps;
    const lane = await ledger.lanes.get(id);
    if (lane === null) return null;
    const terms = await ledger.settings.terms(lane.tenant);
    if (terms.rules.sleep.mode === 'off') return null;
    const how = { id: tools.id('con', ownerBitsOf(tools, lane)), now: tools.now(), holdMs: SILENCES * deps.takeOverMs };
    const claim = await ledger.nights.claim(id, how);
    if (claim.kind === 'none') return null;
    if (claim.kind === 'later') return claim.at;
    return makeNight(deps, { night: claim.night, terms }, cancel);
  };

const fieldsOf = ({ lane, consolidationId: consolidation }: Night) => ({ lane, consolidation });

async function makeNight(deps: SleepDeps, sleeping: Sleeping, cancel: Cancellation): Promise<Millis | null> {
  const { night } = sleeping;
  const fields = fieldsOf(night);
  try {
    const outcome = await sleep(deps, sleeping, cancel);
    deps.log.info({ ...fields, outcome }, 'a night is over');
    deps.slept(outcome);
    return null;
  } catch (error) {
    if (error instanceof FencedError) {
      deps.log.warn(fields, error.message);
      deps.slept('fenced');
      return null;
    }
    return ended(deps, night, { error: asEngineError(error), cancel });
  }
}

/** A stop and what only comes too early cost no try; a night that had all its time has failed. */
async function ended(
  deps: SleepDeps,
  night: Night,
  { error, cancel }: { readonly error: EngineError; readonly cancel: Cancellation },
): Promise<Millis | null> {
  const store = deps.ledger.nights;
  const known = endOfTry(error, cancel);
  if (known?.countsAsTry !== true) {
    const at = deps.tools.now() + (known === null ? 0 : (known.retryAfterMs ?? OVERTAKEN_PAUSE_MS));
    await store.release(night, at);
    deps.slept('given_back');
    return at;
  }
  const { outcome, retryAt } = await failTry(deps, { store, work: night, over: 'failed' } as const, known);
  deps.log.warn({ ...fieldsOf(night), code: known.code, error: known.message, outcome }, 'a night failed');
  deps.slept(outcome);
  return retryAt;
}

/** A night from memories to what becomes of them. What was answered or planned before a crash is taken from the ledger. */
async function sleep(given: SleepDeps, { night, terms }: Sleeping, cancel: Cancellation): Promise<NightOutcome> {
  const deps = forStep(fencedBy(given, given.ledger.nights, night), 'decide', terms.rules);
  const asking = { deps, turn: turnOf(night), cancel };
  await learnOver(deps, { night, rules: terms.rules });
  let plan = night.plan ?? (await think({ night, terms, round: 1 }));
  for (let overtaken = 0; overtaken < OVERTAKEN_MAX; overtaken += 1) {
    const outcome = await settle(deps, { night, plan, rules: terms.rules });
    if (outcome !== null) return outcome;
    plan = await think({ night, terms, round: plan.round + 1 });
  }
  throw new EngineError('explicit writes kept changing the memories of a night; it will be retried', {
    code: 'overtaken',
    ...{ retryable: true, retryAfterMs: OVERTAKEN_PAUSE_MS, countsAsTry: false },
  });

  async function think(of: Sleeping & { readonly round: number }): Promise<Plan> {
    const made = await planNight(deps, { ...of, asking });
    const stored = await deps.ledger.nights.storePlan(night, made);
    if (stored.kind === 'fenced') throw new FencedError(night.consolidationId);
    return made;
  }
}

interface Settling {
  readonly night: Night;
  readonly plan: Plan;
  readonly rules: TenantSettings;
}

/** null: its memories are no longer as they were decided on. */
async function settle(deps: EngineDeps, { night, plan, rules }: Settling): Promise<NightOutcome | null> {
  const { seen, nextAt } = plan.night ?? { seen: [], nextAt: null };
  const end = async (outcome: NightEnd['outcome']) => {
    const ended = await deps.ledger.nights.end(night, { seen, nextAt, now: deps.tools.now(), outcome });
    if (ended.kind === 'fenced') throw new FencedError(night.consolidationId);
    return ended.kind;
  };
  const acts = plan.night?.acts ?? [];
  if (acts.length === 0) {
    await end({ kind: 'rests', refused: plan.remarks.length });
    return 'rested';
  }
  const why = whyItWaits(plan, rules);
  if (why !== null) {
    await end({ kind: 'waits', why, memories: memoriesIn(plan), acts });
    return 'waiting';
  }
  const changes = await changesOf(deps, night, plan);
  if (changes === null || (await end({ kind: 'applies', ...changes })) === 'conflict') return null;
  await projectNight(deps, changes.changes);
  return 'applied';
}

const memoriesIn = ({ events }: Plan): number => new Set(events.map(({ memoryId }) => memoryId)).size;

/** A place in the profile changes nothing of what a memory says. */
function changedBy({ events, night }: Plan): number {
  const isPlace = ({ factId }: MemoryEvent): boolean => night?.acts[Number(factId?.slice(1))]?.act === 'profile';
  return new Set(events.filter((event) => !isPlace(event)).map(({ memoryId }) => memoryId)).size;
}

/** What a tenant wants a person to look at, and what changes more than a night is trusted with. */
function whyItWaits(plan: Plan, { sleep, review }: TenantSettings): NightWaits | null {
  if (sleep.mode === 'preview') return 'preview';
  if (plan.events.some(({ kind }) => review.some((reviewed) => reviewed === kind))) return 'preview';
  const most = Math.max(CHANGES_LEAST, Math.floor(sleep.limits.share * (plan.night?.memories ?? 0)));
  return changedBy(plan) > most ? 'share' : null;
}

/** Questions of a night are asked as those of a turn are. */
const turnOf = ({ claimedAt, ...night }: Night): Turn => ({
  ...night,
  claimedAt,
  generation: 0,
  batchIds: [],
  variant: null,
  purpose: 'sleep',
  settings: { mode: 'decide', instructions: null, includes: null, excludes: null, expiresAt: null },
});

const MINUTE_MS = 60_000;
const DAY_MINUTES = 24 * 60;

/** Whether nights are begun now. One that is under way when the window closes goes on to its end. */
function isNight({ window }: Pick<SleepSettings, 'window'>, now: Millis): boolean {
  if (window === null) return true;
  const ahead = zoneClock(window.timezone)?.(now) ?? 0;
  const minutes = Math.floor(now / MINUTE_MS + ahead) % DAY_MINUTES;
  const [from, to] = [minutesOf(window.from), minutesOf(window.to)];
  return from < to ? from <= minutes && minutes < to : from <= minutes || minutes < to;
}

/** Of "22:30". */
function minutesOf(clock: string): number {
  const [hours, minutes] = clock.split(':');
  return Number(hours) * 60 + Number(minutes);
}

/*
 * What an agent could learn over its users: which of the tenant's categories most of them have memories in. Counted are categories, by the
 * hash of the owner; no word of a user is kept, shown or asked of a model. It is proposed to a person, and nothing is learnt without one.
 */

/** More than so many of an agent's users: most. */
const MOST_USERS = 0.5;
/** Says nothing in particular. */
const NO_TOPICS: ReadonlySet<string> = new Set(['misc', 'procedural']);

type LearnDeps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** Counts one user, and proposes what most users of the same agents have in common by now. */
async function learnOver(
  { ledger, tools }: LearnDeps,
  { night, rules }: { readonly night: Night; readonly rules: TenantSettings },
): Promise<void> {
  const { tenant, lane, owner } = night;
  if (!rules.sleep.agents || owner.kind !== 'user') return;
  const lives = (await memoriesOf({ ledger }, lane)).flatMap(liveOf);
  const topics = topicsOf(lives, new Set(rules.categories ?? DEFAULT_CATEGORIES));
  const ownerHash = ownerHashOf(tools, { ledgerId: ledger.id, tenant, owner });
  await ledger.topics.put({ tenant, lane, ownerHash }, topics, tools.now());
  for (const agentId of new Set(topics.map((one) => one.agentId))) {
    const counts = await ledger.topics.of(tenant, agentId);
    const common = counts.filter(
      ({ owners, ownersInAll }) => owners >= TOPIC_OWNERS && owners > MOST_USERS * ownersInAll,
    );
    for (const { topic } of common) await propose({ ledger, tools }, { tenant, agentId, topic });
  }
}

/** Of what users say of themselves: no records, no stranger's words, and nothing that was concluded. */
function topicsOf(lives: readonly Live[], known: ReadonlySet<string>): readonly Topic[] {
  const topics = lives.filter(isOwn).flatMap(({ memory, version: { details } }): Topic[] => {
    const { category } = details;
    if (category === null || NO_TOPICS.has(category) || !known.has(category)) return [];
    return [...idListsOf(memory).agentId].map((agentId) => ({ agentId, topic: category }));
  });
  return [...new Map(topics.map((one) => [JSON.stringify(one), one])).values()];
}

function isOwn({ version: { details } }: Live): boolean {
  const { about, trust, flagged, concluded } = details;
  return (
    about === 'user' && trust !== 'external' && trust !== 'inferred' && flagged !== true && concluded === undefined
  );
}

async function propose(
  { ledger, tools }: LearnDeps,
  { tenant, agentId, topic }: Topic & Pick<Memory, 'tenant'>,
): Promise<void> {
  const owner: Owner = { kind: 'agent', id: agentId };
  const now = tools.now();
  const lane = await ledger.memories.laneOf(tenant, owner, now);
  const bits = ownerBitsOf(tools, { tenant, owner });
  const operation: HeldOperation = {
    ...{ id: tools.id('rev', bits), kind: 'ADD', fact: null, factText: null, memoryId: tools.id('mem', bits) },
    ...{ before: null, after: `Most users talk about ${topic.replaceAll('_', ' ')}`, topic },
    reason: `at least ${TOPIC_OWNERS} users of this agent have memories in the category ${topic}, and so do most of its users`,
    ...{ decidedBy: 'rule', saidAt: { at: now, seq: EXPLICIT_SEQ }, validFrom: now, sourceIds: [] },
    details: {
      ...{ category: topic, language: 'en', about: 'agent', trust: 'inferred', quote: null, sourceIds: [] },
      ...{ metadata: {}, immutable: false, expiresAt: null },
    },
  };
  const scope = { userId: null, agentId, runId: null, appId: null };
  await ledger.topics.propose({ tenant, lane, scope }, operation, now);
}
