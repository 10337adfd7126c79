import { partAt } from '../cells/shares.ts';
import { isProcedure } from '../consolidation/extract.ts';
import type { EngineDeps } from '../deps.ts';
import { asEngineError } from '../errors.ts';
import { hasConclusions } from '../memories/conclusions.ts';
import { idListsOf, lastSaidAt } from '../memories/evolve.ts';
import { type Asking, promptUse } from '../models/ask.ts';
import { afford, costOf, usageOf, usesOf } from '../models/limits.ts';
import { CHOOSE_SLOTS, FIND_PATTERNS, JUDGE_NEIGHBOURS } from '../models/prompts/night.ts';
import { plannedModels } from '../models/steps.ts';
import type { Candidate, NightPlan, Operation, Plan, PromptUse, Remark } from '../plan.ts';
import type { Receipt } from '../ports/ledger/feedback.ts';
import type { Terms } from '../ports/ledger/ledger.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { TokenUse } from '../ports/models.ts';
import { askedInSlices } from '../ports/tools.ts';
import { memoriesOf } from '../retention/retain.ts';
import { DAY_MS, dayOf } from '../text/dates.ts';
import { overlap } from '../text/terms.ts';
import { compareSaid, type Memory, type Millis, saidBefore, type TenantId } from '../words.ts';
import { actByRule, rememberRuns } from './by-rule.ts';
import { Desk, type Draft, type Live, liveOf } from './drafts.ts';
import { type Judged, judgeNeighbours, Questions } from './neighbours.ts';
import { findPatterns } from './patterns.ts';
import { fillProfile, schemaOf } from './profile.ts';
import { actKey, Sight } from './sight.ts';

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
    usage: usageOf(models),
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
const LEAST_SHARE = 0.1;

export interface Sleeping {
  readonly night: Night;
  readonly terms: Terms;
}

/** The tokens that questions of this night may have; what needs no model goes on without. */
async function tokensAllowed(deps: EngineDeps, of: Sleeping): Promise<number> {
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
  { night, terms }: Sleeping,
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
async function shareOfOwn({ ledger, tools }: EngineDeps, { night, terms }: Sleeping): Promise<number> {
  const { shareOfBudget, limits } = terms.rules.sleep;
  if (shareOfBudget <= 0) return 0;
  const used = await ledger.nights.used(night, tools.now() - PAST_MS);
  return Math.max(LEAST_SHARE * limits.tokens, shareOfBudget * used.consolidations) - used.nights;
}

const tokensOf = ({ promptTokens, completionTokens }: TokenUse): number => promptTokens + completionTokens;

/*
 * Skills: procedures that stood the test. A procedure is a record of what an agent did; it becomes a skill once answers that told it went
 * well often enough, gives way to a better one for the same task, and is a mere record again once it fails too often. Rules decide, by the
 * outcomes that callers report; nothing is written anew.
 */

/** Once may be luck, and twice. */
const GOOD_LEAST = 3;
/** One failure weighs as much as so many successes. */
const GOOD_PER_BAD = 3;
/** Records of the same task share this much of their words. */
const SAME_TASK = 0.5;
/** The newest answers that told a procedure; and procedures of one night, those that were judged last first. */
const RECEIPTS = 100;
const PROCEDURES_MAX = 200;

interface Finding {
  readonly tenant: TenantId;
  readonly desk: Desk;
  /** Those of which nothing was made tonight. */
  readonly lives: readonly Live[];
  readonly sight: Sight;
  /** How many acts there may be. */
  readonly most: number;
}

/** A procedure with what became of the answers that told it. */
interface Tried {
  readonly live: Live;
  readonly good: readonly Receipt[];
  readonly bad: readonly Receipt[];
}

async function findSkills(deps: Pick<EngineDeps, 'ledger' | 'tools'>, given: Finding): Promise<void> {
  const tried = await triedOf(deps, given);
  for (const one of tried.filter((each) => isSkill(each) && hasFailed(each))) unprove(given, one);
  const skills = tried.filter((one) => isSkill(one) && !hasFailed(one));
  for (const one of tried.filter((each) => !isSkill(each) && isProven(each)).sort(bestFirst)) {
    const instead = skills.findIndex((skill) => isSameTask(one.live, skill.live));
    if (prove(given, one, skills[instead] ?? null)) skills.splice(instead < 0 ? skills.length : instead, 1, one);
  }
}

async function triedOf(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  { tenant, lives }: Finding,
): Promise<readonly Tried[]> {
  const procedures = new Map(lives.filter(isTrusted).map((live) => [live.memory.id, live]));
  const credits = await ledger.receipts.credits([...procedures.keys()]);
  const judged = new Set(credits.toSorted((a, b) => b.at - a.at).map(({ memoryId }) => memoryId));
  const tried: Tried[] = [];
  for (const id of [...judged].slice(0, PROCEDURES_MAX)) {
    await tools.breathe();
    const live = procedures.get(id);
    const { results } = await ledger.receipts.ofMemory(tenant, id, { limit: RECEIPTS, cursor: null });
    if (live !== undefined) tried.push(triedIn(live, results));
  }
  return tried;
}

/** Whether it is a skill now: not where another one for the same task went better, or somebody took it back. */
function prove({ desk, sight, most }: Finding, one: Tried, instead: Tried | null): boolean {
  const isBetter = instead === null || bestFirst(one, instead) < 0;
  if (!isBetter || desk.drafts.length >= most || !sight.judge(actKey('skills', one.live))) return false;
  desk.prove(one.live, { successes: one.good.length, instead: instead?.live ?? null, reason: outcomesOf(one) });
  return true;
}

function unprove({ desk, sight, most }: Finding, one: Tried): void {
  if (desk.drafts.length >= most || !sight.judge(actKey('fails', one.live))) return;
  desk.unprove(one.live, `${outcomesOf(one)}; it is an ordinary record again`);
}

/** What somebody may rely on: no stranger's word, nothing that steers a model, nothing that ends by itself. */
function isTrusted({ memory, version: { details } }: Live): boolean {
  const { trust, flagged, expiresAt, immutable } = details;
  return isProcedure(memory) && trust !== 'external' && flagged !== true && expiresAt === null && !immutable;
}

function triedIn(live: Live, receipts: readonly Receipt[]): Tried {
  const { memory, version } = live;
  const own = receipts.filter(({ told }) =>
    told.some((one) => one.kind === 'memory' && one.id === memory.id && one.version === version.number),
  );
  const by = (outcome: Receipt['outcome']) => own.filter((receipt) => receipt.outcome === outcome);
  return { live, good: by('good'), bad: by('bad') };
}

const isSkill = ({ live }: Tried): boolean => live.version.details.skill !== undefined;
const hasFailed = ({ good, bad }: Tried): boolean => bad.length * GOOD_PER_BAD > good.length;
const isProven = (tried: Tried): boolean => tried.good.length >= GOOD_LEAST && !hasFailed(tried);

/** What went well more often; of those that went equally well, what was recorded later. */
const bestFirst = (a: Tried, b: Tried): number =>
  rateOf(b) - rateOf(a) || (saidBefore(a.live.version.saidAt, b.live.version.saidAt) ? 1 : -1);

const rateOf = ({ good, bad }: Tried): number => good.length / (good.length + bad.length);

/** Of the same agents, in nearly the same words. */
function isSameTask(one: Live, other: Live): boolean {
  const [agents, others] = [one, other].map(({ memory }) => [...idListsOf(memory).agentId].sort().join('\n'));
  return agents === others && overlap(one.version.text, other.version.text) >= SAME_TASK;
}

/** Evidence of a rule: the newest answers by their ids. */
function outcomesOf({ good, bad }: Tried): string {
  const named = [...good, ...bad].slice(0, NAMED).map(({ id }) => id);
  return `of the answers that used it, ${good.length} went well and ${bad.length} badly: ${named.join(', ')}`;
}

const NAMED = 5;
