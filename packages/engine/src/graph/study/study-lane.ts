import { variantAsItWas } from '../../canaries/variant.ts';
import type { GatheredTurn } from '../../consolidation/consolidate.ts';
import type { EngineDeps } from '../../deps.ts';
import { asEngineError, type EngineError, FencedError, retryDelay } from '../../errors.ts';
import type { Spoken } from '../../messages/messages.ts';
import { isDoubtful, modelsAway } from '../../models/away.ts';
import { afford } from '../../models/limits.ts';
import { forStep } from '../../models/steps.ts';
import type { Plan, Remark } from '../../plan.ts';
import type { Study } from '../../ports/ledger/graph.ts';
import type { Turn } from '../../ports/ledger/lanes.ts';
import type { FollowUps, StudyHandler } from '../../ports/schedule.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { depsInSpace } from '../../replays/in-space.ts';
import { economised } from '../../suites/gate.ts';
import { endOfTry, failTry, fencedBy, isLastTry, SILENCES } from '../../turns/apart.ts';
import type { LaneId, Millis, SaidAt } from '../../words.ts';
import { projectGraphNow } from '../project.ts';
import type { Entity, EntityKind, GraphPlan, KeptRelation } from '../words.ts';
import { compare, decide, link } from './decide.ts';
import { conclude, draft } from './draft.ts';
import { extractGraph, read, turnOf } from './extract.ts';

/** What waits without losing tries does not ask again after the first, shortest pause. */
const SOME_ATTEMPTS = 3;
/** Lanes that are looked at in one pass of the sweep; the oldest come first. */
const LANES_MAX = 200;

/** How one try to study ended. `waits`: only too early, no try was counted. */
export type StudyOutcome = 'applied' | 'waits' | 'given_back' | 'retry' | 'parked' | 'fenced';

interface StudyDeps extends EngineDeps {
  readonly studied: (outcome: StudyOutcome) => void;
  /** How long a worker may be silent before it is taken for dead. */
  readonly takeOverMs: Millis;
}

/**
 * What a worker does with one job: makes the lane's first pending study. Tries, waits and parking are the ledger's. Answers
 * when to come back; null: nothing is left.
 */
export const studyLane =
  (deps: StudyDeps): StudyHandler =>
  async (lane, cancel) => {
    const now = deps.tools.now();
    const claim = await deps.ledger.graph.claim(lane, { now, holdMs: SILENCES * deps.takeOverMs });
    if (claim.kind === 'none') return null;
    if (claim.kind === 'later') return claim.at;
    return makeStudy(await depsFor(deps, claim.study), claim.study, { cancel, sure: false });
  };

/** In a shadow space it is made as its what-if says, and how its tries end is nobody's figure. */
async function depsFor(deps: StudyDeps, { tenant }: Study): Promise<StudyDeps> {
  const inSpace = await depsInSpace(deps, tenant);
  return inSpace === null ? deps : { ...deps, ...inSpace, studied: () => {} };
}

/** Asks for the studies that wait: after a job that was lost, or a queue that was wiped. */
export async function sweepStudies(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  followUps: Pick<FollowUps, 'study'>,
): Promise<number> {
  const lanes = await ledger.graph.due(tools.now(), LANES_MAX);
  if (lanes.length > 0) await followUps.study(lanes);
  return lanes.length;
}

/** Asks for the study of what was just applied. Whoever calls does not wait; the sweep finds what is lost. */
export async function askForStudy({ log }: EngineDeps, followUps: FollowUps, turn: Turn): Promise<void> {
  try {
    await followUps.study([turn.lane]);
  } catch (error) {
    const fields = { lane: turn.lane, consolidation: turn.consolidationId, error: String(error) };
    log.warn(fields, 'could not queue a study; the sweep will do it');
  }
}

/** The lane may have more: who made one study comes back at once. `sure`: the models were just seen to answer. */
async function makeStudy(
  deps: StudyDeps,
  claimed: Study,
  how: { cancel: Cancellation; sure: boolean },
): Promise<Millis | null> {
  const { cancel, sure } = how;
  const fields = fieldsOf(claimed);
  try {
    const { statements, remarks } = await study(deps, claimed, cancel);
    deps.log.info({ ...fields, statements: statements.length, remarks: remarks.length }, 'studied');
    deps.studied('applied');
    return deps.tools.now();
  } catch (error) {
    if (error instanceof FencedError) {
      deps.log.warn(fields, error.message);
      deps.studied('fenced');
      return null;
    }
    const failure = asEngineError(error);
    const doubted = sure ? 'none' : await doubtOf(deps, claimed, { failure, cancel });
    // They may have come back only after the failure: the last try is not lost for that.
    if (doubted === 'there') return makeStudy(deps, claimed, { cancel, sure: true });
    return ended(deps, claimed, { failure, cancel, away: doubted === 'away' });
  }
}

/** Whether the last try may have failed because the models are away, and whether they still are. */
async function doubtOf(
  deps: StudyDeps,
  claimed: Study,
  { failure, cancel }: Failed,
): Promise<'none' | 'there' | 'away'> {
  if (!isLastTry(deps, claimed) || cancel.aborted || !isDoubtful(failure)) return 'none';
  return (await isAway(deps, claimed, cancel)) ? 'away' : 'there';
}

const fieldsOf = ({ lane, consolidationId: consolidation }: Study): { lane: LaneId; consolidation: string } => ({
  lane,
  consolidation,
});

interface Failed {
  readonly failure: EngineError;
  readonly cancel: Cancellation;
}

interface Ended extends Failed {
  readonly away: boolean;
}

/** A stop, models that are away and what only comes too early cost no try; a study that had all its time has failed. */
async function ended(deps: StudyDeps, claimed: Study, { failure, cancel, away }: Ended): Promise<Millis> {
  const known = endOfTry(failure, cancel);
  if (known === null) return giveBack(deps, claimed, { waitMs: 0, outcome: 'given_back' });
  if (known.countsAsTry && !away) return failed(deps, claimed, known);
  const { code, message, retryAfterMs } = known;
  deps.log.info({ ...fieldsOf(claimed), code, error: message }, 'a study is waiting');
  const waitMs = retryAfterMs ?? retryDelay(deps, Math.max(claimed.attempts, SOME_ATTEMPTS), known);
  return giveBack(deps, claimed, { waitMs, outcome: 'waits' });
}

async function giveBack(
  { ledger, tools, studied }: StudyDeps,
  claimed: Study,
  { waitMs, outcome }: { waitMs: number; outcome: StudyOutcome },
): Promise<Millis> {
  const at = tools.now() + waitMs;
  await ledger.graph.release(claimed, at);
  studied(outcome);
  return at;
}

/** One try more, or none: what is parked keeps its failure, and the lane goes on with the next. */
async function failed(deps: StudyDeps, claimed: Study, error: EngineError): Promise<Millis> {
  const { code, message } = error;
  const failing = { store: deps.ledger.graph, work: claimed, over: 'parked' } as const;
  const { outcome, retryAt } = await failTry(deps, failing, error);
  deps.log.warn({ ...fieldsOf(claimed), code, error: message, outcome }, 'an attempt to study failed');
  deps.studied(outcome);
  return retryAt ?? deps.tools.now();
}

/**
 * The turn of the graph for one applied consolidation, from its messages to applied statements. What was answered before a
 * crash is not asked again: answers are kept with those of the consolidation.
 */
async function study(outer: EngineDeps, claimed: Study, cancel: Cancellation): Promise<GraphPlan> {
  const given = await asItsConsolidation(outer, claimed);
  const terms = await given.ledger.settings.terms(claimed.tenant);
  const { tenant, lane } = claimed;
  const { rung } = await afford(given, { tenant, account: { lane }, terms, isExtra: true });
  const rules = await economised(given, { tenant, rung }, terms.rules);
  const deps = fencedBy(forStep(given, 'graph', rules), given.ledger.graph, claimed);
  const found = await read(deps, claimed, cancel);
  const admitted = await extractGraph(deps, found, cancel);
  const linked = await link(deps, admitted, cancel);
  const compared = await compare(deps, linked);
  const decided = await decide({ deps, turn: found.gathered.turn, cancel }, compared);
  const concluded = conclude(decided, { ends: deps.settings.deletesPerConsolidation });
  const plan = await draft(deps, concluded);
  const applied = await deps.ledger.graph.apply(claimed, plan, deps.tools.now());
  if (applied.kind === 'fenced') throw new FencedError(claimed.consolidationId);
  if (plan.statements.length > 0) await projectGraphNow(given, claimed.lane, LATER);
  return plan;
}

/** With the models and rules that the canary has with which the consolidation was made, if there was one. */
const asItsConsolidation = async (deps: EngineDeps, claimed: Study): Promise<EngineDeps> =>
  (await variantAsItWas(deps, await turnOf(deps, claimed))).deps;

/** Whether a study failed only because the models are away: asked before its last try is counted. */
async function isAway(outer: EngineDeps, claimed: Study, cancel: Cancellation): Promise<boolean> {
  const deps = fencedBy(await asItsConsolidation(outer, claimed), outer.ledger.graph, claimed);
  return modelsAway(deps, { turn: await turnOf(deps, claimed), steps: ['graph'] }, cancel);
}

const LATER = 'a study was applied but is not in the index yet; the sweep will write it';

/** The value each step of a study hands to the next. Every step adds to what it was given and calls no earlier one. */
export interface Read {
  readonly study: Study;
  /** The consolidation as a turn, for what both ask models. */
  readonly gathered: GatheredTurn;
  /** The messages with something in them. */
  readonly spoken: readonly Spoken[];
  /** The plan of the consolidation; null where retention has removed it. */
  readonly plan: Plan | null;
  /** The owner's own entity; null: there is none yet. */
  readonly self: Entity | null;
  /** Entities of the lane that stand for themselves: as many as are looked through. */
  readonly entities: readonly Entity[];
  /** What holds around those that the messages name, and around the owner. */
  readonly around: readonly KeptRelation[];
}

/** An entity that a message names, as the model named it and the guard let it through. */
export interface Mention {
  readonly name: string;
  /** Other names that messages give it. */
  readonly aliases: readonly string[];
  readonly kind: EntityKind;
  readonly self: boolean;
  /** The known entity the model takes it for. */
  readonly known: Entity | null;
}

/** A relation that a message states. Its ends are places in the list of mentions. */
export interface Claim {
  readonly said: 'holds' | 'ended' | 'denied';
  readonly source: number;
  readonly relationship: string;
  readonly destination: number;
  readonly validFrom: Millis;
  readonly until: Millis | null;
  readonly single: boolean;
  readonly saidAt: SaidAt;
  readonly messageIds: readonly string[];
  readonly quote: string | null;
}

export interface Admitted extends Read {
  readonly mentions: readonly Mention[];
  readonly claims: readonly Claim[];
  readonly remarks: readonly Remark[];
  readonly asked: boolean;
}

/** Which entity a mention is of. */
export interface Place {
  readonly id: string;
  /** Of an entity that this study makes: as it will be made. */
  readonly isNew: boolean;
}

/** Two entities that may be one. */
export interface Pair {
  /** The mention it came of. */
  readonly mention: number;
  readonly other: Entity;
  readonly likeness: number;
}

export interface Linked extends Admitted {
  /** One for each mention. */
  readonly places: readonly Place[];
  readonly pairs: readonly Pair[];
}
