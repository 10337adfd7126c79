import { EngineError } from '../errors.ts';
import { maskSecrets } from '../masking/secrets.ts';
import { RECALL_STEP, type RecallInput } from '../models/prompts/recall-step.ts';
import type { TokenUse } from '../ports/models.ts';
import { cleanText } from '../text/normalise.ts';
import { estimateTokens, shorten } from '../text/tokens.ts';
import type { JsonObject } from '../words.ts';
import { askReading, type Reader } from './ask-reading.ts';
import { NOTE_TOKENS_MAX, type Note, type Notebook } from './notebook.ts';
import { type Step, stepIn } from './read-step.ts';

/** A model that reads, and what it may use up. */
export interface Thinking {
  readonly reader: Reader;
  /** For all calls of one inquiry together: what they read and write. */
  readonly tokensMax: number;
  /** Now, as ISO 8601: local time where the owner is, as far as what was read tells. */
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
  /** It was told to answer. */
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
    input: input as unknown as JsonObject,
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
  new EngineError(`the ${tokensMax} tokens of this recall leave no room for another call; allow more`, {
    code: 'context_too_long',
    retryable: false,
  });
