import { asEngineError } from '../errors.ts';
import { idListsOf, isPinned, lastSaidAt } from '../memories/evolve.ts';
import { type Asking, ask, type Question } from '../models/ask.ts';
import { embedTexts } from '../models/embed.ts';
import type { Listed } from '../models/parse/listed.ts';
import { JUDGE_NEIGHBOURS, type NearInput, pairsIn, type RawPair } from '../models/prompts/night.ts';
import type { Prompt } from '../models/prompts/prompt.ts';
import type { Remark } from '../plan.ts';
import { isPersonsLine } from '../profile/placement.ts';
import { cosine } from '../search/hits.ts';
import type { SleepSettings } from '../settings.ts';
import { wordsIn } from '../text/claims.ts';
import { dateTextOf } from '../text/dates.ts';
import { estimateTokens } from '../text/normalise.ts';
import { claimedIn } from '../text/quantities.ts';
import { isMadeOf, isWhollyIn } from '../text/support.ts';
import { overlap, termSet } from '../text/terms.ts';
import { saysChange } from '../text/wording.ts';
import { type MemoryVersion, saidBefore } from '../words.ts';
import { type Desk, isAsSure, type Live } from './drafts.ts';
import { actKey, type Sight } from './sight.ts';

/** Memories of one question, and what is near each of those that are new: the instructions cost as much as twenty memories. */
const TOGETHER = 32;
const NEAREST = 5;
/** What may say the same shares this much of its words. */
const ALIKE = 0.34;
/** What reads nearly the same may say another thing of the same: by shared words, or this far from being near to being equal. */
const NEARLY = { words: 0.6, way: 0.5 };
/** Of those that are near, how many are looked at, nearest first. */
const LOOKED_AT = 40;
/** What is said of one thing shares this much. */
const ABOUT_THE_SAME = 0.1;

interface Judging {
  readonly asking: Asking;
  readonly desk: Desk;
  readonly lives: readonly Live[];
  readonly sight: Sight;
  readonly sleep: SleepSettings;
  readonly questions: Questions;
}

export interface Judged {
  /** What a model said of which nothing was made, and why. */
  readonly remarks: readonly Remark[];
  /** Some are still to be judged: the limits of a night were reached. */
  readonly more: boolean;
}

/** Asks about memories that are near each other where one of them is new, and makes what holds of the answers. */
export async function judgeNeighbours({ asking, desk, lives, sight, sleep, questions }: Judging): Promise<Judged> {
  const news = lives.filter((live) => !sight.has(actKey('neighbours', live)));
  if (news.length === 0 || !(sleep.acts.merge || sleep.acts.contradictions)) return { remarks: [], more: false };
  const newIds = new Set(news.map(({ memory }) => memory.id));
  const isNew = ({ memory }: Live): boolean => newIds.has(memory.id);
  const { pair } = asking.deps.settings.near;
  const isNearly = (like: number): boolean => like >= pair + NEARLY.way * (1 - pair);
  const may = (seed: Live, other: Live, like: number) => mayMatter({ seed, other, acts: sleep.acts }, isNearly(like));
  const nearTo = await nearness(asking, lives, { most: NEAREST, likeness: ALIKE, may });
  const remarks: Remark[] = [];
  for await (const { seeds, group } of questionsAbout(asking, news, nearTo)) {
    if (group.length > 0) {
      const step =
        desk.drafts.length < sleep.limits.operations ? await questions.next(JUDGE_NEIGHBOURS, textsOf(group)) : null;
      if (step === null) return { remarks, more: true };
      remarks.push(...(await judge({ asking, desk, sleep, isNew }, { group, step })));
    }
    for (const seed of seeds) sight.judge(actKey('neighbours', seed));
  }
  return { remarks, more: false };
}

/** What is new with what is near it, as many together as there is room for; those that nothing is near, without a question. */
async function* questionsAbout(
  { deps }: Asking,
  news: readonly Live[],
  nearTo: (seed: Live) => readonly Live[],
): AsyncGenerator<{ readonly seeds: readonly Live[]; readonly group: readonly Live[] }> {
  const around: { readonly seed: Live; readonly near: readonly Live[]; readonly like: number }[] = [];
  for (const seed of news) {
    await deps.tools.breathe();
    const near = nearTo(seed);
    around.push({ seed, near, like: Math.max(0, ...near.map((other) => shared(seed, other))) });
  }
  yield { seeds: around.filter(({ near }) => near.length === 0).map(({ seed }) => seed), group: [] };
  // Where a night may not ask about all of them, what is most alike comes first.
  const ranked = around.filter(({ near }) => near.length > 0).sort((a, b) => b.like - a.like);
  const left = new Map(ranked.map(({ seed, near }) => [seed.memory.id, [seed, ...near]]));
  while (left.size > 0) yield roomFor(left);
}

const shared = (one: Live, other: Live): number => overlap(one.version.text, other.version.text);

/** The next ones, first of all those that are near each other. Takes them out of `left`. */
function roomFor(left: Map<string, readonly Live[]>) {
  const seeds: Live[] = [];
  const group = new Map<string, Live>();
  const order = [...left.keys()];
  // While it is walked, it is added to.
  for (let next = order.shift(); next !== undefined; next = order.shift()) {
    const around = left.get(next) ?? [];
    const added = around.filter(({ memory }) => !group.has(memory.id));
    const [seed] = around;
    if (seed === undefined || (group.size > 0 && group.size + added.length > TOGETHER)) continue;
    seeds.push(seed);
    left.delete(next);
    for (const live of added) group.set(live.memory.id, live);
    order.unshift(...around.map(({ memory }) => memory.id));
  }
  return { seeds, group: [...group.values()] };
}

export const textsOf = (lives: readonly Live[]): readonly string[] => lives.map(({ version }) => version.text);

interface Nearness {
  readonly most: number;
  /** Texts that share this much of their words are near each other, whatever their vectors. */
  readonly likeness: number;
  /** Whether the two may be of interest together; missing: any are. */
  may?(seed: Live, other: Live, like: number): boolean;
}

/** The nearest to a memory among all. */
export async function nearness(
  { deps, turn, cancel }: Asking,
  lives: readonly Live[],
  { most, likeness, may }: Nearness,
): Promise<(seed: Live) => readonly Live[]> {
  const texts = lives.map(({ version }) => version.text);
  const vectorOf = await embedTexts(deps, { lane: turn.lane, texts }, cancel);
  const { near } = deps.settings;
  const termsOf = new Map(lives.map((live) => [live, termSet(live.version.text)]));
  const alike = (one: Live, other: Live): number => overlap(termsOf.get(one) ?? '', termsOf.get(other) ?? '');
  return (seed) => {
    const vector = vectorOf(seed.version.text);
    const ranked = lives
      .filter(
        ({ memory, version }) => memory.id !== seed.memory.id && version.details.about === seed.version.details.about,
      )
      .map((live) => ({
        live,
        like: cosine(vector, vectorOf(live.version.text)),
        words: alike(seed, live),
      }))
      .filter(({ like, words }) => like >= near.pair || words >= likeness)
      .sort((a, b) => b.like + b.words - a.like - a.words || (a.live.memory.id < b.live.memory.id ? -1 : 1));
    const wanted =
      may === undefined ? ranked : ranked.slice(0, LOOKED_AT).filter(({ live, like }) => may(seed, live, like));
    return wanted.slice(0, most).map(({ live }) => live);
  };
}

async function judge(
  { asking, desk, sleep, isNew }: Pick<Judging, 'asking' | 'desk' | 'sleep'> & { isNew(live: Live): boolean },
  { group, step }: { readonly group: readonly Live[]; readonly step: string },
): Promise<readonly Remark[]> {
  const ordered = [...group].sort((a, b) => (saidBefore(lastSaidAt(a.memory), lastSaidAt(b.memory)) ? -1 : 1));
  const pairs = await answersAbout(asking, {
    ...{ step, prompt: JUDGE_NEIGHBOURS, ask: 'Which of these say the same, which contradict?' },
    ...{ input: nearInput(ordered), shape: pairsIn },
  });
  if ('failed' in pairs) return [{ asked: 'judge memories that are near each other', did: pairs.failed }];
  const done = new Set<string>();
  return pairs.flatMap((pair): Remark[] => {
    const [kept, dropped] = [pair.keep, pair.drop].map((id) => (/^\d+$/u.test(id) ? ordered[Number(id)] : undefined));
    const asked = `${pair.kind} ${pair.keep} ${pair.drop}: ${pair.reason}`;
    if (kept === undefined || dropped === undefined || kept === dropped)
      return [{ asked, did: 'refused: it names memories that it was not shown, or one twice' }];
    const isDone = [kept, dropped].some(({ memory }) => done.has(memory.id)) || isChanged(desk, [kept, dropped]);
    const refusal = isDone
      ? 'refused: this night has already changed one of them'
      : isNew(kept) || isNew(dropped)
        ? carryOut({ desk, sleep }, { pair, kept, dropped })
        : 'refused: they were already compared';
    if (refusal === null) done.add(dropped.memory.id);
    return refusal === null ? [] : [{ asked, did: refusal }];
  });
}

/** What ended or reads otherwise by now; one that was confirmed alone says what it said. */
const isChanged = ({ drafts }: Desk, lives: readonly Live[]): boolean =>
  lives.some(({ memory }) => drafts.some(({ act }) => act.memoryId === memory.id));

/**
 * What a model answers about a group, or why it is left as it is: an answer that cannot be read, however often it is asked for.
 */
export async function answersAbout<T>(
  asking: Asking,
  question: Question<Listed<T>>,
): Promise<readonly T[] | { readonly failed: string }> {
  try {
    return (await ask(asking, question)).items;
  } catch (error) {
    const { code, message, retryable } = asEngineError(error);
    if (code !== 'model_output_unusable' || retryable) throw error;
    return { failed: `left unchanged: ${message}` };
  }
}

/** A group as a model is shown it. */
export const nearInput = (group: readonly Live[]): NearInput => ({
  memories: group.map(({ memory, version }, i) => ({
    id: String(i),
    text: version.text,
    said_at: dateTextOf(lastSaidAt(memory).at, version.details.utcOffset),
  })),
});

interface Wish {
  readonly pair: RawPair;
  readonly kept: Live;
  readonly dropped: Live;
}

/** Why not; null: it is done, or a person is asked. */
function carryOut({ desk, sleep }: Pick<Judging, 'desk' | 'sleep'>, { pair, kept, dropped }: Wish): string | null {
  if (pair.kind === 'same') {
    const refusal = sleep.acts.merge ? mergeRefused(kept, dropped) : 'refused: merging is off';
    if (refusal === null) desk.merge(kept, dropped, `${kept.memory.id} says the same: ${pair.reason}`);
    return refusal;
  }
  if (!sleep.acts.contradictions) return 'refused: contradictions are off';
  const isInOrder = saidBefore(lastSaidAt(dropped.memory), lastSaidAt(kept.memory));
  const [newer, older] = isInOrder ? [kept, dropped] : [dropped, kept];
  if (!isAboutTheSame(newer, older)) return 'refused: they are not about the same thing';
  if (isDecided(newer, older)) desk.overrule(newer, older, `${newer.memory.id} was said later: ${pair.reason}`);
  else {
    const reason = `it may contradict ${newer.memory.id}, “${newer.version.text}”: ${pair.reason}. Is it no longer true?`;
    desk.ask({ act: 'contradictions', reason, decidedBy: 'model' }, older, [newer]);
  }
  return null;
}

/**
 * Whether anything could become of two memories, whatever a model says: one says all that the other does, or they may contradict each
 * other. Most of what is near needs no question.
 */
function mayMatter(
  { seed, other, acts }: { readonly seed: Live; readonly other: Live; readonly acts: SleepSettings['acts'] },
  isNearly: boolean,
): boolean {
  if (acts.merge && (mergeRefused(seed, other) === null || mergeRefused(other, seed) === null)) return true;
  if (!acts.contradictions) return false;
  const isInOrder = saidBefore(lastSaidAt(seed.memory), lastSaidAt(other.memory));
  const [one, another] = [seed.version.text, other.version.text];
  const isChange = saysChange(isInOrder ? another : one);
  return isNearly || isChange || isDenied(one) !== isDenied(another) || overlap(one, another) >= NEARLY.words;
}

/** What would be lost or made surer by it is refused, whatever a model says. */
function mergeRefused(kept: Live, dropped: Live): string | null {
  const [stays, goes] = [kept.version, dropped.version];
  if (goes.details.immutable || isPinned(dropped.memory) || isPersonsLine(dropped.memory))
    return 'refused: it is immutable, pinned, or a profile line added by a person';
  if (!isAsSure(stays, goes)) return 'refused: the one that would stay is less trusted';
  if (stays.details.flagged || goes.details.flagged) return 'refused: one of them is flagged as an attack';
  if (stays.details.expiresAt !== null || goes.details.expiresAt !== null) return 'refused: one of them expires';
  if (JSON.stringify(stays.details.metadata) !== JSON.stringify(goes.details.metadata))
    return 'refused: they have different metadata';
  const apps = [kept, dropped].map(({ memory }) => [...idListsOf(memory).appId].sort().join('\n'));
  if (apps[0] !== apps[1]) return 'refused: they were said in different apps';
  return isSaidBy(goes, stays) ? null : 'refused: one of them contains information that the other lacks';
}

/** Whether a text has all that another one says: each number and date as it stands there, each name and thing, and nothing denied. */
function isSaidBy(part: MemoryVersion, whole: MemoryVersion): boolean {
  const claims = [part, whole].map(({ text }) => claimedIn(text));
  const [figures, known] = claims.map(({ numbers, dates }) => [
    ...numbers.map(({ whole: number }) => String(number)),
    ...dates.map((date) => JSON.stringify(date)),
  ]);
  const hasFigures = figures?.every((figure) => known?.includes(figure)) === true;
  return (
    hasFigures &&
    isDenied(part.text) === isDenied(whole.text) &&
    isMadeOf(part.text, [whole.text], whole.saidAt.at) &&
    isWhollyIn(part.text, whole.text)
  );
}

/** Words that turn what is said into its opposite. */
const DENIALS =
  /(?<!\p{L})(?:not|no|never|none|without|hates?|dislikes?|avoids?|isn['’]t|doesn['’]t|don['’]t|can['’]t|won['’]t|no longer|nicht|kein\p{L}*|nie|ohne|ne|pas|jamais|sans|nunca|sin|non|senza|não|sem)(?!\p{L})|不|没|無|ない/iu;

export const isDenied = (text: string): boolean => DENIALS.test(text);

function isAboutTheSame({ version: { text: one } }: Live, { version: { text: other } }: Live): boolean {
  const { things } = wordsIn(other);
  return overlap(one, other) >= ABOUT_THE_SAME || [...wordsIn(one).things].some((thing) => things.has(thing));
}

/** Order and evidence decide: it was said later, by somebody as sure, and says that something became otherwise. */
function isDecided(newer: Live, older: Live): boolean {
  const isLater = lastSaidAt(older.memory).at < newer.version.saidAt.at;
  const isFree = !older.version.details.immutable && !isPinned(older.memory) && !isPersonsLine(older.memory);
  return isLater && isFree && isAsSure(newer.version, older.version) && saysChange(newer.version.text);
}

/** An answer that cannot be read is asked for once more. */
const CALLS_OF_ONE = 2;
/** More than an answer about a group has, and the frame of its question. */
const ANSWER_TOKENS = 1_000;

/** The questions of one night, numbered in their order, with what all of them may use. */
export class Questions {
  readonly #asking: Asking;
  readonly #limits: Pick<SleepSettings['limits'], 'calls' | 'tokens'>;
  #asked = 0;

  constructor(asking: Asking, limits: Pick<SleepSettings['limits'], 'calls' | 'tokens'>) {
    this.#asking = asking;
    this.#limits = limits;
  }

  /**
   * What the next question is called among the answers of the night; null: those before have used so much that another one might be
   * too much. The same before a crash and after it.
   */
  async next({ system }: Prompt, texts: readonly string[]): Promise<string | null> {
    const asks = [system, ...texts].reduce((sum, text) => sum + estimateTokens(text), ANSWER_TOKENS);
    if (await this.#isSpent(asks)) return null;
    this.#asked += 1;
    return `sleep:${this.#asked}`;
  }

  async #isSpent(asks: number): Promise<boolean> {
    const { deps, turn } = this.#asking;
    const { calls, tokens } = this.#limits;
    const answers = await deps.ledger.thoughts.answers(turn.consolidationId);
    const used = answers.filter(({ step }) => Number(step.split(':')[1]) <= this.#asked);
    const spent = used.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0);
    return used.length + CALLS_OF_ONE > calls || spent + asks > tokens;
  }
}
