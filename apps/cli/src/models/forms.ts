import { placeOf } from '@slowwave/adapters/assemble';
import { type ChatCall, estimateTokens } from '@slowwave/engine';
import { SLOW } from './limits.ts';
import { type Answered, promptOf, type TimedChat } from './timed-chat.ts';
import { limited, NO_TIME, type Outcome, ok, type Try } from './trial.ts';

/** Easy, but worth a thought. Nothing but the schema says what form the answer shall have. */
const MINUTES: ChatCall = {
  name: 'count_minutes',
  system: 'count_minutes\nHow many minutes does the journey take?',
  user: 'The train leaves at 9:40 and arrives at 11:05.\n{}',
  schema: {
    type: 'object',
    properties: { minutes: { type: 'integer' } },
    required: ['minutes'],
    additionalProperties: false,
  },
};

/** In which form it answers, and how long it thinks before: one question shows both. */
export function formTries(chat: TimedChat): readonly Try[] {
  let asked: Promise<Answered | null> | null = null;
  const answer = (): Promise<Answered | null> => {
    asked ??= chat.ask(MINUTES);
    return asked;
  };
  const needs = () => (asked === null ? { ...chat.needs(promptOf(MINUTES), 0), least: FIRST } : NO_TIME);
  const tryOf = (tried: string, read: (answered: Answered) => Outcome): Try => ({
    tried,
    needs,
    run: async () => {
      const answered = await answer();
      return answered === null ? limited(chat.reached(), SLOW) : read(answered);
    },
  });
  return [
    tryOf('json_schema', (answered) => formOf(answered, chat)),
    tryOf('thinking', (answered) => thinkingIn(answered, chat)),
  ];
}

/** The first answer of a model says little of how long the next one takes: it may have been loaded for it. */
const FIRST = 0;

function formOf({ text }: Answered, chat: TimedChat): Outcome {
  const { format } = chat.takes();
  const follows = isMinutes(text);
  if (format === 'json_schema')
    return follows ? ok('accepted and followed') : limited('accepted, but not followed', TOLERANT);
  const instead = `Slowwave asks for ${format} instead`;
  return limited(
    `refused${chat.since}`,
    follows ? `${instead}; nothing to do` : `${instead}, which is not followed either; ${TOLERANT}`,
  );
}

const TOLERANT = 'its answers are parsed leniently, but a server that enforces schemas is better';

const CLOSED = '</think>';
const answerIn = (text: string): string => text.split(CLOSED).at(-1) ?? text;

function isMinutes(text: string): boolean {
  try {
    return typeof JSON.parse(answerIn(text)).minutes === 'number';
  } catch {
    return false;
  }
}

const THOUGHT_MIN = 60; // tokens

function thinkingIn({ text, usage, took }: Answered, chat: TimedChat): Outcome {
  const thoughts = chat.thoughts();
  const thought = usage.completionTokens - estimateTokens(answerIn(text));
  if (thought < THOUGHT_MIN)
    return ok(thoughts === null ? 'does not reason before it answers' : `reasons briefly, ${placeOf(thoughts)}`);
  const where = thoughts === null ? 'not shown' : placeOf(thoughts);
  return limited(`reasoned for about ${thought} tokens (${took}) about a small question, ${where}`, THINKS);
}

const THINKS =
  'this makes consolidations slow and expensive, so limit it with SLOWWAVE_CHAT_EXTRA_BODY, such as {"reasoning_effort": "low"} or {"chat_template_kwargs": {"enable_thinking": false}}';
