import { asEngineError } from '../errors.ts';
import { maskSecrets } from '../masking/secrets.ts';
import { textUnderKeys } from '../models/parse/answer.ts';
import { isObject, listUnder } from '../models/parse/listed.ts';
import { RERANK, REWRITE, type RerankInput, type RewriteInput } from '../models/prompts/inquiry.ts';
import type { Relevance, Reranker, TokenUse } from '../ports/models.ts';
import { cleanText, cut, shorten } from '../text/normalise.ts';
import type { Json, Role } from '../words.ts';
import {
  askReading,
  type Note,
  type Notebook,
  notebook,
  type Readable,
  type Reader,
  type Step,
  type Thinking,
  type Thought,
  think,
} from './think.ts';

/** What is looked into, for one owner: who asks has bound both to that owner, whatever a model says. */
export interface Library {
  search(query: string): Promise<readonly Readable[]>;
  /** What was said around these messages. */
  around(messageIds: readonly string[]): Promise<readonly Readable[]>;
}

interface Inquiry {
  readonly question: string;
  readonly library: Library;
  /** null: there is no model that could read. */
  readonly thinking: Thinking | null;
  /** Rounds of thinking; in the last one an answer is due. */
  readonly stepsMax: number;
}

/** One look: what was asked for, and the keys of what was found. */
interface Look {
  /** 0: before any thinking. */
  readonly step: number;
  readonly query: string | null;
  /** The key of what was read around. */
  readonly around: string | null;
  readonly found: readonly string[];
}

interface Inquired {
  /** null: what was read does not answer the question. */
  readonly answer: string | null;
  readonly citations: readonly Readable[];
  readonly trail: readonly Look[];
  readonly calls: number;
  readonly usage: TokenUse;
  readonly remarks: readonly string[];
  /** Why the answer is not what was asked for. */
  readonly degraded: readonly string[];
}

/** Searches, reads, searches again for what is missing, and answers from what was read. */
export async function inquire(inquiry: Inquiry): Promise<Inquired> {
  const course: Course = { inquiry, notes: notebook(), trail: [], spent: [], remarks: [] };
  await search(course, 0, inquiry.question);
  if (course.notes.isEmpty()) return ended(course, NO_ANSWER);
  if (inquiry.thinking === null) return ended(course, bestOf(course), 'no chat model is configured');
  try {
    return ended(course, await thoughtOf(course, inquiry.thinking));
  } catch (error) {
    const { code } = asEngineError(error);
    const isLate = code === 'cancelled';
    return ended(
      course,
      bestOf(course),
      isLate ? 'the time limit was reached' : `the chat model gave no answer (${code})`,
    );
  }
}

interface Course {
  readonly inquiry: Inquiry;
  readonly notes: Notebook;
  readonly trail: Look[];
  readonly spent: TokenUse[];
  readonly remarks: string[];
}

const NO_ANSWER: Cited = { answer: null, citations: [] };

async function thoughtOf(course: Course, thinking: Thinking): Promise<Cited> {
  const { stepsMax } = course.inquiry;
  for (let step = 1; ; step += 1) {
    const thought = await thinkOn(course, thinking, stepsMax - step);
    if (thought.last || thought.step.answer !== null) return cited(course, thought.step);
    const found = await follow(course, step, thought.step);
    // Where nothing more is to be found, what there is has to do.
    if (found === 0) return cited(course, (await thinkOn(course, thinking, 0)).step);
  }
}

async function thinkOn({ inquiry, notes, trail, spent }: Course, thinking: Thinking, left: number): Promise<Thought> {
  const searched = trail.flatMap(({ query }) => (query === null ? [] : [query]));
  const thought = await think(thinking, { question: inquiry.question, searched, notes, left, spent });
  spent.push(thought.usage);
  return thought;
}

/** Does what a step wants. Answers with how much was found that was not known. */
async function follow(course: Course, step: number, { queries, around }: Step): Promise<number> {
  const asked = new Set(course.trail.map(({ query }) => query));
  let found = 0;
  for (const query of queries) if (!asked.has(query)) found += await search(course, step, query);
  for (const id of around) {
    const note = course.notes.named(id);
    if (note !== null) found += await readAround(course, step, note);
  }
  return found;
}

async function search(course: Course, step: number, query: string): Promise<number> {
  const found = await course.inquiry.library.search(query);
  course.trail.push({ step, query, around: null, found: found.map(({ key }) => key) });
  return course.notes.write(found).length;
}

async function readAround(course: Course, step: number, { of }: Note): Promise<number> {
  const found = of.messageIds.length === 0 ? [] : await course.inquiry.library.around(of.messageIds);
  course.trail.push({ step, query: null, around: of.key, found: found.map(({ key }) => key) });
  return course.notes.write(found).length;
}

/** Memories shown as they are where no model answers. */
const BEST_SHOWN = 5;

function bestOf({ notes }: Course): Cited {
  const best = notes.best(BEST_SHOWN).map(({ of }) => of);
  if (best.length === 0) return NO_ANSWER;
  return { answer: best.map(({ text, date }) => `- ${text} (${date.slice(0, 10)})`).join('\n'), citations: best };
}

function ended({ trail, spent, remarks }: Course, { answer, citations }: Cited, reason?: string): Inquired {
  const total = (of: (use: TokenUse) => number): number => spent.reduce((sum, use) => sum + of(use), 0);
  return {
    answer,
    citations,
    trail,
    calls: spent.length,
    usage: { promptTokens: total((use) => use.promptTokens), completionTokens: total((use) => use.completionTokens) },
    remarks,
    degraded: reason === undefined ? [] : [`${reason}: the answer consists of the best matching memories`],
  };
}

interface Cited {
  readonly answer: string | null;
  readonly citations: readonly Readable[];
}

interface Citing {
  readonly notes: Pick<Notebook, 'named'>;
  readonly remarks: string[];
}

/** An answer with what it rests on. What was never read cannot be cited: that is left out, and remarked. */
function cited({ notes, remarks }: Citing, { answer, cites }: Step): Cited {
  if (answer === null) return { answer: null, citations: [] };
  const citations = new Map<string, Readable>();
  const unread: string[] = [];
  for (const id of cites) {
    const note = notes.named(bare(id));
    if (note === null) unread.push(id.slice(0, ID_SHOWN));
    else citations.set(note.of.key, note.of);
  }
  if (unread.length > 0) {
    remarks.push(
      `${unread.length} of the sources cited by the model were never read and are left out: ${unread.join(', ')}`,
    );
  }
  if (citations.size === 0) remarks.push('the answer cites no source that was read; it may be made up');
  return { answer, citations: [...citations.values()] };
}

const ID_SHOWN = 20;

/** Models like to write [0] for 0. */
const bare = (id: string): string => id.replace(/^[[(\s]+|[\])\s]+$/gu, '');

/** Of one memory; what it is about stands in its beginning. */
const TEXT_TOKENS_MAX = 200;
const QUERY_TOKENS_MAX = 1_000;

/** A chat model as a reranker: one call for all memories. */
export const modelReranker = (reader: Omit<Reader, 'cancel'>): Reranker => ({
  rerank: async ({ query, documents }, cancel) => {
    const input: RerankInput = {
      query: shorten(cleanText(query).trim(), QUERY_TOKENS_MAX),
      memories: documents.map((text, i) => ({ id: String(i), text: shorten(cleanText(text).trim(), TEXT_TOKENS_MAX) })),
    };
    const { value } = await askReading(
      { ...reader, cancel },
      { prompt: RERANK, ask: 'Judge the memories.', input, shape: rankingIn },
    );
    return value.filter(({ index }) => index < documents.length);
  },
});

/** Each memory once, the first mention counts; null: no ranking at all. */
function rankingIn(value: Json): readonly Relevance[] | null {
  const items = listUnder(value, ['ranking', 'results', 'memories']);
  if (items === null) return null;
  const ranking = new Map<number, number>();
  for (const { item } of items) {
    const index = isObject(item) ? Number(item.id) : Number.NaN;
    const score = isObject(item) ? Number(item.relevance) : Number.NaN;
    if (Number.isInteger(index) && index >= 0 && Number.isFinite(score) && !ranking.has(index)) {
      ranking.set(index, Math.min(1, Math.max(0, score)));
    }
  }
  return [...ranking].map(([index, score]) => ({ index, score }));
}

/** A question, and what was said just before it, oldest first. */
export interface LeaningQuestion {
  readonly question: string;
  readonly said: readonly { readonly role: Role; readonly text: string }[];
}

/** Of one message: what a question leans on stands near its end or its beginning, and long ones are pasted. */
const MESSAGE_TOKENS_MAX = 300;
/** The last messages: a question seldom leans on what came before them. */
const MESSAGES_MAX = 12;
const QUESTION_TOKENS_MAX = 1_000;
/** Characters of what is searched for instead; an answer is no question. */
const REWRITTEN_MAX = 1_000;

/** The question in words that need no conversation around them, by a chat model. */
export async function rewriteQuestion(reader: Reader, { question, said }: LeaningQuestion): Promise<string> {
  const input: RewriteInput = {
    question: shorten(asRead(question), QUESTION_TOKENS_MAX),
    messages: said
      .slice(-MESSAGES_MAX)
      .map(({ role, text }) => ({ role, content: shorten(asRead(text), MESSAGE_TOKENS_MAX) })),
  };
  const shape = textUnderKeys('question', 'query', 'text');
  const { value } = await askReading(reader, { prompt: REWRITE, ask: 'Rewrite the question.', input, shape });
  return cut(value, REWRITTEN_MAX);
}

const asRead = (text: string): string => maskSecrets(cleanText(text).trim()).text;
