import { isProcedure } from '../consolidation/extract.ts';
import type { EngineDeps } from '../deps.ts';
import { idListsOf } from '../memories/said-ids.ts';
import type { Receipt } from '../ports/ledger/feedback.ts';
import { overlap } from '../text/terms.ts';
import { saidBefore, type TenantId } from '../words.ts';
import type { Desk, Live } from './drafts.ts';
import { actKey, type Sight } from './sight.ts';

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

export async function findSkills(deps: Pick<EngineDeps, 'ledger' | 'tools'>, given: Finding): Promise<void> {
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
