import type { EngineDeps } from '../deps.ts';
import { inEffect, isPinned, lastSaidAt } from '../memories/evolve.ts';
import { ratingsOf } from '../memories/ratings.ts';
import { attacksIn } from '../messages/messages.ts';
import type { Remark } from '../plan.ts';
import type { Credit } from '../ports/ledger/feedback.ts';
import type { Paged } from '../ports/ledger/ledger.ts';
import type { Tombstone } from '../ports/ledger/memories.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { TaskState } from '../ports/ledger/task-states.ts';
import { isPersonsLine } from '../profile/placement.ts';
import { creditScore } from '../receipts.ts';
import type { SleepSettings } from '../settings.ts';
import { outcomeOf, type TaskDocument } from '../task.ts';
import { DAY_MS, dateTextOf, millisOf } from '../text/dates.ts';
import { normaliseText } from '../text/normalise.ts';
import { claimedIn, type NamedDate } from '../text/quantities.ts';
import type { Memory, MemoryVersion, Millis } from '../words.ts';
import type { Desk, Live } from './drafts.ts';
import { actKey, type RunName, runKey, type Sight } from './sight.ts';

/** Twice a year: what nobody has said, confirmed or needed for so long stands back; after as long again a person is asked. */
const UNNEEDED_MS = 180 * DAY_MS;

interface Ruling {
  readonly desk: Desk;
  readonly lives: readonly Live[];
  readonly acts: SleepSettings['acts'];
  readonly sight: Sight;
  readonly credits: readonly Credit[];
  readonly now: Millis;
  /** How many acts there may be. */
  readonly most: number;
}

/** What needs no model. Answers when the next dated plan is over; null: there is none. */
export function actByRule({ desk, lives, acts, sight, credits, now, most }: Ruling): Millis | null {
  const credited = Map.groupBy(credits, ({ memoryId }) => memoryId);
  let next: Millis | null = null;
  for (const live of lives.filter(({ memory, version }) => !version.details.immutable && !isPersonsLine(memory))) {
    const plan = acts.age ? planIn(live.version) : null;
    if (plan !== null && plan.overAt > now) next = Math.min(next ?? plan.overAt, plan.overAt);
    if (desk.drafts.length >= most) continue;
    if (plan !== null && plan.overAt <= now) age({ desk, live, sight }, plan);
    else if (acts.fade) fade({ desk, live, sight, now, credits: credited.get(live.memory.id) ?? [] });
  }
  return next;
}

function age({ desk, live, sight }: Pick<Fading, 'desk' | 'live' | 'sight'>, { text, overAt }: DatedPlan): void {
  if (!sight.judge(actKey('age', live))) return;
  const reason = `planned until ${dateTextOf(overAt - 1)}, which is over`;
  desk.reword(live, { text, from: overAt, reason });
}

interface Fading extends Pick<Ruling, 'desk' | 'sight' | 'credits' | 'now'> {
  readonly live: Live;
}

function fade({ desk, live, sight, credits, now }: Fading): void {
  const { memory, version } = live;
  if (!isUnneeded(live, credits)) return;
  const days = Math.floor((now - lastSaidAt(memory).at) / DAY_MS);
  const said = `it has not been said, confirmed or used for ${days} days`;
  if (version.details.faded !== true) {
    if (now - lastHeard(memory) > UNNEEDED_MS && sight.judge(actKey('fade', live))) desk.fade(live, said);
  } else if (now - lastHeard(memory) > UNNEEDED_MS && sight.judge(actKey('forget', live))) {
    const reason = `${said}, and it ranks lower since then; forget it?`;
    desk.ask({ act: 'fade', reason, decidedBy: 'rule' }, live, []);
  }
}

/** Said once, pinned by nobody, rated by nobody, and no help in any answer. */
function isUnneeded({ memory, version }: Live, credits: readonly Credit[]): boolean {
  const helped = credits.some((one) => one.version === version.number && creditScore(one) > 0);
  return memory.confirmations === 0 && !isPinned(memory) && !helped && ratingsOf(memory)(version.number).length === 0;
}

/** When something was last recorded of it. */
const lastHeard = (memory: Memory): Millis =>
  Math.max(...inEffect(memory.timeline).map(({ recordedAt }) => recordedAt));

/** A plan that has a date: when that is over, and how it reads from then on. */
interface DatedPlan {
  readonly overAt: Millis;
  readonly text: string;
}

/**
 * What a memory says that plans something for a date. "User is going to Lisbon in July 2026" was right until the end of July, and
 * nobody said whether they went: from then on it reads "User planned to go to Lisbon in July 2026". null: it plans nothing, has no
 * date, or is worded in a way that no rule can turn.
 */
export function planIn({ text, validFrom, saidAt, details }: MemoryVersion): DatedPlan | null {
  const turned = turn(text, details.language);
  if (turned === null) return null;
  const offset = (details.utcOffset ?? 0) * MINUTE_MS;
  const ends = claimedIn(text).dates.flatMap((date) => endOf(date, saidAt.at) ?? []);
  const end = ends.length > 0 ? Math.max(...ends) : endOfResolved(validFrom, saidAt.at);
  // What was over when it was said is no plan.
  if (end === null || end <= saidAt.at) return null;
  return { overAt: end - offset, text: turned };
}

const MINUTE_MS = 60_000;

/** The first moment after a named date. Without a year: the first such date after it was said. */
function endOf(date: NamedDate, saidAt: Millis): Millis | null {
  const { year } = date;
  if (year !== null) return endIn(date, year);
  const [said] = partsOf(saidAt);
  const ends = [said, said + 1].flatMap((one) => endIn(date, one) ?? []);
  return ends.find((end) => end > saidAt) ?? null;
}

function endIn({ month, day }: NamedDate, year: number): Millis | null {
  if (month === null) return day === null ? millisOf(String(year + 1)) : null;
  if (day === null) return month === 12 ? millisOf(String(year + 1)) : millisOf(`${year}-${month + 1}`);
  const at = millisOf(`${year}-${month}-${day}`);
  return at === null ? null : at + DAY_MS;
}

/**
 * Where the text names no date that is read here, the one that the consolidation made out. It may stand for the whole of a month or
 * year that begins with it.
 */
function endOfResolved(validFrom: Millis, saidAt: Millis): Millis | null {
  if (validFrom <= saidAt + DAY_MS) return null;
  const [, month, day] = partsOf(validFrom);
  const isMonth = day === 1;
  const isYear = isMonth && month === 1;
  return validFrom + (isYear ? 366 : isMonth ? 31 : 1) * DAY_MS;
}

function partsOf(at: Millis): [year: number, month: number, day: number] {
  const [year, month, day] = dateTextOf(at).split('-').map(Number);
  return [year ?? 1, month ?? 1, day ?? 1];
}

/** The text as a former plan; null where no form of one is found. A text without a language is taken for English. */
function turn(text: string, language: string | null): string | null {
  const found = FORMS[language ?? 'en']?.find(([form]) => form.test(text));
  return found === undefined ? null : text.replace(...found);
}

/** Forms of the present continuous, which also tells of plans, and what was planned. */
const DOING: Readonly<Record<string, string>> = {
  arriving: 'arrive',
  attending: 'attend',
  celebrating: 'celebrate',
  driving: 'drive',
  flying: 'fly',
  getting: 'get',
  going: 'go',
  having: 'have',
  hosting: 'host',
  joining: 'join',
  leaving: 'leave',
  marrying: 'marry',
  meeting: 'meet',
  moving: 'move',
  presenting: 'present',
  returning: 'return',
  running: 'run',
  seeing: 'see',
  starting: 'start',
  staying: 'stay',
  taking: 'take',
  travelling: 'travel',
  traveling: 'travel',
  visiting: 'visit',
};

const WISHES: Readonly<Record<string, string>> = {
  expect: 'expected',
  hope: 'hoped',
  intend: 'intended',
  plan: 'planned',
  want: 'wanted',
};

/** Things that are made out beforehand. */
const MADE_OUT =
  'appointment|booking|conference|concert|check-?up|class|date|deadline|exam|examination|event|flight|interview|lesson|meeting|' +
  'operation|party|presentation|race|reservation|session|surgery|talk|test|ticket|trip|visit|wedding|workshop';

type Form = [form: RegExp, turned: (found: string, ...groups: string[]) => string];

const ENGLISH: readonly Form[] = [
  [/\b(?:is|are|am) going to (?=\p{Lu})/u, () => 'planned to go to '],
  [/\b(?:is|are|am) going to\b/u, () => 'planned to'],
  [/\b(?:is|are|am) (?:planning|preparing|intending|hoping) to\b/u, () => 'planned to'],
  [/\b(plan|intend|hope|want|expect)s? to\b/u, (_, verb = '') => `${WISHES[verb] ?? verb} to`],
  [/\bplans (?=an?\b|the\b|his\b|her\b|their\b)/u, () => 'planned '],
  [/\bwill not\b/u, () => 'did not plan to'],
  [/\bwill\b/u, () => 'was going to'],
  [
    new RegExp(`\\b(?:is|are|am) (${Object.keys(DOING).join('|')})\\b`, 'u'),
    (_, verb = '') => `planned to ${DOING[verb] ?? verb}`,
  ],
  [
    new RegExp(`\\b(?:has|have) ((?:an?|the|his|her|their) (?:[\\p{L}-]+ ){0,4}(?:${MADE_OUT}))(?!\\p{L})`, 'u'),
    (_, thing = '') => `had ${thing} planned`,
  ],
  [/\b(?:is|are) (planned|scheduled|booked|due|set)\b/u, (_, how = '') => `was ${how}`],
];

const GERMAN: readonly Form[] = [
  [/(?<!\p{L})(?:will|möchte)(?!\p{L})/u, () => 'wollte'],
  [/(?<!\p{L})plant(?!\p{L})/u, () => 'plante'],
  [/(?<!\p{L})hat vor(?!\p{L})/u, () => 'hatte vor'],
];

/** By language; the first that fits is taken. */
const FORMS: Readonly<Record<string, readonly Form[]>> = { en: ENGLISH, de: GERMAN };

/*
 * What runs came to becomes memories of their owner, by rule: in the words of the state in which a run ended, which the memory names as
 * its source. Nothing is made up, and no model is asked.
 */

/** Of larger owners, those that ended last. */
const RUNS_MAX = 500;
/** A state may have 64,000 characters. */
const PAGE = 20;

interface Remembering {
  readonly night: Pick<Night, 'tenant' | 'lane'>;
  readonly desk: Desk;
  readonly sight: Sight;
  /** How many acts there may be. */
  readonly most: number;
}

interface Remembered {
  readonly remarks: readonly Remark[];
  /** Those that were looked at, in this night or before. */
  readonly runs: readonly RunName[];
}

/** Each run that ended, once: those that ended first come first. */
export async function rememberRuns(deps: EngineDeps, { night, desk, sight, most }: Remembering): Promise<Remembered> {
  const runs: RunName[] = [];
  const news: TaskState[] = [];
  for await (const state of endedOf(deps, night)) {
    runs.push({ runId: state.runId, createdAt: state.createdAt });
    if (!sight.has(runKey(state))) news.push(state);
  }
  const remarks: Remark[] = [];
  for (const state of news.toReversed()) {
    if (desk.drafts.length >= most) break;
    sight.judge(runKey(state));
    const refusal = await remember(deps, { night, desk, state });
    if (refusal !== null)
      remarks.push({ asked: `remember the result of run ${state.runId}`, did: `refused: ${refusal}` });
  }
  return { remarks, runs };
}

/** Last ended first. */
async function* endedOf(
  { ledger }: EngineDeps,
  { tenant, lane }: Remembering['night'],
): AsyncGenerator<TaskState, void, void> {
  let cursor: string | null = null;
  for (let read = 0; read < RUNS_MAX; read += PAGE) {
    const page: Paged<TaskState> = await ledger.taskStates.list(tenant, { lane, ended: true }, { limit: PAGE, cursor });
    yield* page.results;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

/** Why not; null: it is, or there is nothing to say of it. */
async function remember(
  { ledger, tools }: EngineDeps,
  { night, desk, state }: Pick<Remembering, 'night' | 'desk'> & { readonly state: TaskState },
): Promise<string | null> {
  if (state.paused) return 'some of it was written while memory was paused for its owner';
  const text = outcomeOf(state.document as TaskDocument);
  if (text === null) return null;
  if (attacksIn(text).length > 0) return 'it addresses a model';
  const tombstones = await ledger.memories.tombstones(night.lane, [tools.hash(normaliseText(text))]);
  if (tombstones.some(({ deletedAt }: Tombstone) => deletedAt.at >= (state.endedAt ?? 0))) return 'somebody deleted it';
  desk.remember(state, text);
  return null;
}
