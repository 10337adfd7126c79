import { partAt } from '../cells/shares.ts';
import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { hasConclusions } from '../memories/conclusions.ts';
import { lastSaidAt } from '../memories/evolve.ts';
import { type Asking, promptUse } from '../models/ask.ts';
import { afford } from '../models/limits.ts';
import { costOf, usesOf } from '../models/prices.ts';
import { CHOOSE_SLOTS, FIND_PATTERNS, JUDGE_NEIGHBOURS } from '../models/prompts/night.ts';
import { plannedModels } from '../models/steps.ts';
import type { Candidate, NightPlan, Operation, Plan, PromptUse, Remark } from '../plan.ts';
import type { Terms } from '../ports/ledger/ledger.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { TokenUse } from '../ports/models.ts';
import { askedInSlices } from '../ports/tools.ts';
import { memoriesOf } from '../retention/retain.ts';
import { DAY_MS, dayOf } from '../text/dates.ts';
import { compareSaid, type Memory, type Millis } from '../words.ts';
import { actByRule } from './by-rule.ts';
import { Desk, type Draft, type Live, liveOf } from './drafts.ts';
import { type Judged, judgeNeighbours } from './neighbours.ts';
import { findPatterns } from './patterns.ts';
import { fillProfile, schemaOf } from './profile.ts';
import { Questions } from './questions.ts';
import { rememberRuns } from './runs.ts';
import { actKey, Sight } from './sight.ts';
import { findSkills } from './skills.ts';

/** Of larger owners, those that were said last. */
const MEMORIES_MAX = 5_000;
/** When there is more to do than one night may. */
const NEXT_NIGHT_MS = DAY_MS / 2;

interface Planning {
  readonly night: Night;
  readonly terms: Terms;
  readonly asking: Asking;
  readonly round: number;
}

/** All that a night would do, and why. Nothing is changed by it. */
export async function planNight(deps: EngineDeps, planning: Planning): Promise<Plan> {
  const { night, terms, asking } = planning;
  const { sleep } = terms.rules;
  const now = deps.tools.now();
  const all = await memoriesOf(deps, night.lane);
  const memories = newestFirst(all).slice(0, MEMORIES_MAX);
  // What nights concluded is never their input.
  const lives = memories
    .flatMap(liveOf)
    .filter(({ version: { details } }) => !isOver(details.expiresAt, now) && details.concluded === undefined);
  const concluded = all.filter(hasConclusions);
  const sight = new Sight(deps.tools, night.seen);
  const desk = new Desk(deps.tools, night, memories);

  const most = sleep.limits.operations;
  const ids = sleep.acts.fade ? lives.map(({ memory }) => memory.id) : [];
  const credits = await askedInSlices(deps.tools, ids, (some) => deps.ledger.receipts.credits(some));
  const nextPlanAt = actByRule({ desk, lives, acts: sleep.acts, sight, credits, now, most });
  const untouched = withoutChanged(desk, lives);
  if (sleep.acts.skills) await findSkills(deps, { tenant: night.tenant, desk, lives: untouched, sight, most });
  const ended = sleep.acts.runs ? await rememberRuns(deps, { night, desk, sight, most }) : { remarks: [], runs: [] };
  // Nobody compares what reads otherwise since this night: its own output is never its input.
  const changed = new Set(desk.drafts.map(({ act }) => act.memoryId));
  const left = lives.filter(({ memory }) => !changed.has(memory.id));
  const allowed = await tokensAllowed(deps, { night, terms });
  const isAffordable = allowed > 0;
  const questions = new Questions(asking, { ...sleep.limits, tokens: Math.min(sleep.limits.tokens, allowed) });
  const judging = { asking, desk, sight, sleep, questions };
  const judged: Judged = isAffordable ? await judgeNeighbours({ ...judging, lives: left }) : UNASKED;
  const unchanged = withoutChanged(desk, lives);
  const found: Judged = isAffordable
    ? await findPatterns({ ...judging, lives: unchanged, memories: concluded })
    : sleep.acts.patterns
      ? UNASKED
      : { remarks: [], more: false };
  const filled: Judged = await fillProfile({ ...judging, lives: unreworded(desk, lives), rules: terms.rules });
  const made = [...new Set([...lives.map(({ memory }) => memory.id), ...changed])].flatMap((id) =>
    liveOf(desk.memory(id)),
  );
  for (const live of made) if (changed.has(live.memory.id)) sight.judge(actKey('neighbours', live));
  const isMore = judged.more || found.more || filled.more || desk.drafts.length >= most;
  const nextAt = isMore ? Math.min(now + NEXT_NIGHT_MS, nextPlanAt ?? Number.POSITIVE_INFINITY) : nextPlanAt;
  const seen = sight.kept({
    lives: [...lives, ...made],
    fallen: concluded,
    runs: ended.runs,
    schema: schemaOf(terms.rules),
  });
  const notes = { seen, nextAt, memories: lives.length };
  return draftOf(deps, {
    planning,
    drafts: desk.drafts,
    lives,
    remarks: [...ended.remarks, ...judged.remarks, ...found.remarks, ...filled.remarks],
    notes,
  });
}

const UNASKED: Judged = { remarks: [], more: true };

/** Those of which nothing was made tonight; with what another one was merged into, as it is now. */
function withoutChanged(desk: Desk, lives: readonly Live[]): readonly Live[] {
  const changed = new Set(desk.drafts.map(({ act }) => act.memoryId));
  return lives.filter(({ memory }) => !changed.has(memory.id)).flatMap(({ memory }) => liveOf(desk.memory(memory.id)));
}

/** Those that say at the end of the night what they said before. */
const unreworded = (desk: Desk, lives: readonly Live[]): readonly Live[] =>
  lives.flatMap(({ memory, version }) =>
    liveOf(desk.memory(memory.id)).filter((live) => live.version.text === version.text),
  );

const isOver = (expiresAt: Millis | null, now: Millis): boolean => expiresAt !== null && expiresAt <= now;

const newestFirst = (memories: readonly Memory[]): readonly Memory[] =>
  memories
    .filter((memory) => liveOf(memory).length > 0)
    .sort((a, b) => compareSaid(lastSaidAt(b), lastSaidAt(a)) || (a.id < b.id ? -1 : 1));

interface Drafting {
  readonly planning: Planning;
  readonly drafts: readonly Draft[];
  readonly lives: readonly Live[];
  readonly remarks: readonly Remark[];
  readonly notes: Omit<NightPlan, 'acts'>;
}

/** As a plan of messages, so that it is shown, undone, kept and erased in the same ways. */
async function draftOf(deps: EngineDeps, { planning, drafts, lives, remarks, notes }: Drafting): Promise<Plan> {
  const { night, terms, round } = planning;
  const models = usesOf(await deps.ledger.thoughts.answers(night.consolidationId), terms.rules.prices);
  const touched = new Set(
    drafts.flatMap(({ act, events }) => [
      act.memoryId,
      ...act.evidence.map(({ memoryId }) => memoryId),
      ...events.map(({ memoryId }) => memoryId),
    ]),
  );
  return {
    consolidationId: night.consolidationId,
    round,
    facts: [],
    discards: [],
    candidates: lives.filter(({ memory }) => touched.has(memory.id)).map(candidateOf),
    operations: drafts.flatMap(operationsOf),
    held: drafts.flatMap(({ held }) => held),
    outcomes: [],
    remarks,
    events: drafts.flatMap(({ events }) => events),
    prompts: models.length === 0 ? [] : [promptUse(deps, JUDGE_NEIGHBOURS), ...otherPrompts(deps, terms)],
    models: plannedModels(deps, terms.rules),
    usage: {
      calls: models.reduce((sum, use) => sum + use.calls, 0),
      promptTokens: models.reduce((sum, use) => sum + use.promptTokens, 0),
      completionTokens: models.reduce((sum, use) => sum + use.completionTokens, 0),
      models,
    },
    cost: costOf(models),
    timings: {},
    night: { acts: drafts.map(({ act }) => act), ...notes },
  };
}

const otherPrompts = (deps: EngineDeps, { rules: { sleep } }: Terms): readonly PromptUse[] => [
  ...(sleep.acts.patterns ? [promptUse(deps, FIND_PATTERNS)] : []),
  ...(sleep.acts.profile ? [promptUse(deps, CHOOSE_SLOTS)] : []),
];

const candidateOf = ({ memory, version }: Live, i: number): Candidate => ({
  shortId: String(i),
  memoryId: memory.id,
  version: version.number,
  revision: memory.revision,
  text: version.text,
  saidAt: version.saidAt,
  ...(version.details.utcOffset !== undefined && { utcOffset: version.details.utcOffset }),
  standing: 'live',
  immutable: version.details.immutable,
  recalledBy: [],
});

const operationsOf = ({ act, events }: Draft, i: number): readonly Operation[] =>
  events.map(({ kind, memoryId, revision, previous, text, reason }) => ({
    fact: `n${i}`,
    event: kind === 'UNDO' || kind === 'FEEDBACK' ? 'NONE' : kind,
    memoryId,
    revision: revision - 1,
    before: previous,
    after: text,
    reason,
    decidedBy: act.decidedBy,
  }));

/** What consolidations of an owner cost counts for so long. */
const PAST_MS = 30 * DAY_MS;
/** In that time, what was written without a model has as many tokens as this part of one night's. */
const LEAST = 0.1;

interface Allowing {
  readonly night: Night;
  readonly terms: Terms;
}

/** The tokens that questions of this night may have; what needs no model goes on without. */
async function tokensAllowed(deps: EngineDeps, of: Allowing): Promise<number> {
  const answers = await deps.ledger.thoughts.answers(of.night.consolidationId);
  const left = Math.min(await leftOfBudget(deps, of, answers), await shareOfOwn(deps, of));
  if (left <= 0) return 0;
  try {
    await afford(deps, { tenant: of.night.tenant, account: { lane: of.night.lane }, terms: of.terms });
    return left;
  } catch (error) {
    if (asEngineError(error).code === 'budget_exhausted') return 0;
    throw error;
  }
}

/** Of the tenant's day. What this night has asked before a crash is not counted against it twice. */
async function leftOfBudget(
  { ledger, tools }: EngineDeps,
  { night, terms }: Allowing,
  answers: readonly { readonly at: number; readonly usage: TokenUse }[],
): Promise<number> {
  const { budgets, sleep } = terms.rules;
  if (budgets.tokensPerDay === null) return Number.POSITIVE_INFINITY;
  const since = dayOf(tools.now()) * DAY_MS;
  const own = answers.filter(({ at }) => at >= since).reduce((sum, { usage }) => sum + tokensOf(usage), 0);
  const share = await ledger.shares.held(night.tenant);
  const part = share === null ? 1 : partAt(share, tools.now());
  return sleep.shareOfBudget * part * budgets.tokensPerDay - (await ledger.nights.spent(night.tenant, since)) + own;
}

/** Of what was spent on remembering what the owner said: nights cost no more than that share of it, whatever there is to compare. */
async function shareOfOwn({ ledger, tools }: EngineDeps, { night, terms }: Allowing): Promise<number> {
  const { shareOfBudget, limits } = terms.rules.sleep;
  if (shareOfBudget <= 0) return 0;
  const used = await ledger.nights.used(night, tools.now() - PAST_MS);
  return Math.max(LEAST * limits.tokens, shareOfBudget * used.consolidations) - used.nights;
}

const tokensOf = ({ promptTokens, completionTokens }: TokenUse): number => promptTokens + completionTokens;
