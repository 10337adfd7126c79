import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { maskSecrets } from '../masking/secrets.ts';
import { type Apart, askApart, type Question } from '../models/ask.ts';
import { accountOf, afford, type Purse } from '../models/limits.ts';
import { isObject, textOfString, wordsUnder } from '../models/parse/listed.ts';
import { RECALL_STEP, type RecallInput } from '../models/prompts/inquiry.ts';
import { forStep } from '../models/steps.ts';
import type { TokenUse } from '../ports/models.ts';
import type { Cancellation } from '../ports/tools.ts';
import { economised } from '../suites/gate.ts';
import { millisOf } from '../text/dates.ts';
import { cleanText, estimateTokens, shorten } from '../text/normalise.ts';
import type { Json, Owner, TenantId } from '../words.ts';

/** A model that reads, and what it may use up. */
export interface Thinking {
  readonly reader: Reader;
  /** For all calls of one inquiry together: what they read and write. */
  readonly tokensMax: number;
  /** Now, as ISO 8601: local time where the owner is, as far as what was read shows. */
  now(): string;
}

interface Asked {
  readonly question: string;
  readonly searched: readonly string[];
  readonly notes: Notebook;
  /** Steps that may follow this one. */
  readonly left: number;
  /** What the calls before have used. */
  readonly spent: readonly TokenUse[];
}

export interface Thought {
  readonly step: Step;
  readonly usage: TokenUse;
  /** It had to answer. */
  readonly last: boolean;
}

/** What an answer takes, about; more for models that think aloud. */
const ANSWER_TOKENS = 700;
/** With less to read than this a step is not worth its call. */
const NOTES_TOKENS_MIN = 400;

/** One call. Each gets its share of what is left of the tokens; where that is too little for more steps, it is the last. */
export async function think({ reader, tokensMax, now }: Thinking, asked: Asked): Promise<Thought> {
  const { notes } = asked;
  const [question = '', ...searched] = [asked.question, ...asked.searched].map((text) => cleanText(text).trim());
  const frame = { question, now: now(), last: false, searched, memories: [], messages: [] };
  const fixed = estimateTokens(RECALL_STEP.system) + estimateTokens(JSON.stringify(frame)) + ANSWER_TOKENS;
  const rest = tokensMax - asked.spent.reduce((sum, use) => sum + use.promptTokens + use.completionTokens, 0);
  const share = rest / (asked.left + 1) - fixed;
  const last = asked.left === 0 || share < NOTES_TOKENS_MIN;
  const room = last ? rest - fixed : share;
  if (room < NOTES_TOKENS_MIN) throw nothingLeft(tokensMax);
  const input = { ...frame, last, ...shownOf(notes.fitting(room)) };
  const { value: step, usage } = await askReading(reader, {
    prompt: RECALL_STEP,
    ask: last ? 'Answer the question.' : 'Answer the question, or look up more.',
    input,
    shape: stepIn,
  });
  return { step, usage, last };
}

function shownOf(notes: readonly Note[]): Pick<RecallInput, 'memories' | 'messages'> {
  const of = (kind: Note['of']['kind']): Note[] => notes.filter((note) => note.of.kind === kind);
  const text = (note: Note): string => shorten(asRead(note.of), NOTE_TOKENS_MAX);
  return {
    memories: of('memory').map((note) => ({ id: note.id, text: text(note), date: note.of.date })),
    messages: of('message').map((note) => ({
      id: note.id,
      role: note.of.role ?? 'user',
      content: text(note),
      date: note.of.date,
    })),
  };
}

/** As consolidations read it: nothing in it that nobody sees, and no secret of a conversation. */
function asRead({ kind, text }: Note['of']): string {
  const seen = cleanText(text).trim();
  return kind === 'message' ? maskSecrets(seen).text : seen;
}

const nothingLeft = (tokensMax: number): EngineError =>
  new EngineError(
    `the limit of ${tokensMax} tokens for this recall leaves no room for another call; allow more tokens`,
    {
      code: 'context_too_long',
      retryable: false,
    },
  );

/** Who asks a model while memories are read, outside of any consolidation. */
export interface Reader {
  readonly deps: Purse & Pick<EngineDeps, 'chat' | 'chats' | 'otherChat' | 'meter'>;
  /** Whose day it is counted to, and whose budget it has to fit. */
  readonly tenant: TenantId;
  readonly owner: Owner;
  readonly cancel: Cancellation;
  readonly asker?: Apart['asker'];
}

/** Asks within the budgets. */
export async function askReading<T>(
  { deps, tenant, owner, cancel, asker }: Reader,
  question: Omit<Question<T>, 'step'>,
): Promise<{ readonly value: T; readonly usage: TokenUse }> {
  const [account, terms] = await Promise.all([accountOf(deps, tenant, owner), deps.ledger.settings.terms(tenant)]);
  const { rung } = await afford(deps, { tenant, account, terms });
  const recalling = forStep(deps, 'recall', await economised(deps, { tenant, rung }, terms.rules));
  return askApart({ deps: recalling, tenant, account, rules: terms.rules, cancel, purpose: 'recall', asker }, question);
}

/** More than this of one step is left out. */
const QUERIES_MAX = 4;
const AROUND_MAX = 3;
const QUERY_CHARS_MAX = 300;
const CITES_MAX = 50;

/** What a model wants to do next; nothing in it is believed yet. */
export interface Step {
  readonly answer: string | null;
  readonly cites: readonly string[];
  readonly queries: readonly string[];
  readonly around: readonly string[];
}

const KEYS = ['answer', 'queries', 'around', 'cites'];

/** null: not a step at all. */
function stepIn(value: Json): Step | null {
  if (!isObject(value) || !KEYS.some((key) => key in value)) return null;
  const words = (key: string): string[] => [...new Set(wordsUnder(value, key).filter((word) => word !== ''))];
  return {
    answer: textOfString(value.answer),
    cites: words('cites').slice(0, CITES_MAX),
    queries: words('queries')
      .slice(0, QUERIES_MAX)
      .map((query) => query.slice(0, QUERY_CHARS_MAX)),
    around: words('around').slice(0, AROUND_MAX),
  };
}

/** A memory or message that can be read and cited. */
export interface Readable {
  readonly kind: 'memory' | 'message';
  /** Names it among all: a memory's version, or a message. */
  readonly key: string;
  readonly text: string;
  /** Who said it; of messages alone. */
  readonly role: string | null;
  /** When it began to hold, or was said, as ISO 8601: local time where it was said. */
  readonly date: string;
  /** The messages behind it, or itself: what can be read around. */
  readonly messageIds: readonly string[];
}

export interface Note {
  /** How a model names it: "0" is a memory, "m0" a message. */
  readonly id: string;
  readonly of: Readable;
  /** How far up it was found, 0 the best. */
  readonly rank: number;
}

/** One entry never takes the place of all others. */
const NOTE_TOKENS_MAX = 400;
/** What an entry costs beside its text. */
const FRAME_TOKENS = 30;

const timeOf = ({ of }: Note): number => millisOf(of.date) ?? 0;

/** What was read so far, each once, under short ids that stay the same. */
export function notebook() {
  const notes = new Map<string, Note>();
  const counts = { memory: 0, message: 0 };
  return {
    /** Answers with what was new. */
    write: (found: readonly Readable[]): readonly Readable[] => {
      const fresh = found.filter(({ key }) => !notes.has(key));
      for (const of of fresh) {
        const id = `${of.kind === 'memory' ? '' : 'm'}${counts[of.kind]}`;
        counts[of.kind] += 1;
        notes.set(of.key, { id, of, rank: found.indexOf(of) });
      }
      return fresh;
    },
    named: (id: string): Note | null => [...notes.values()].find((note) => note.id === id) ?? null,
    /** The best of it that so many tokens have room for; memories before messages of the same rank. In the order of time. */
    fitting: (tokens: number): readonly Note[] => {
      let room = tokens;
      const best = [...notes.values()].sort((a, b) => a.rank - b.rank || kindOf(a) - kindOf(b));
      const chosen = best.filter(({ of }) => {
        const cost = Math.min(estimateTokens(of.text), NOTE_TOKENS_MAX) + FRAME_TOKENS;
        if (cost > room) return false;
        room -= cost;
        return true;
      });
      return chosen.sort((a, b) => timeOf(a) - timeOf(b));
    },
    best: (count: number): readonly Note[] =>
      [...notes.values()]
        .filter(({ of }) => of.kind === 'memory')
        .sort((a, b) => a.rank - b.rank)
        .slice(0, count),
    isEmpty: (): boolean => notes.size === 0,
  };
}

const kindOf = ({ of }: Note): number => (of.kind === 'memory' ? 0 : 1);

export type Notebook = ReturnType<typeof notebook>;
