import { ROOM_ADVICE } from '@slowwave/adapters/assemble';
import { ARE_YOU_THERE, type ChatCall, EngineError, estimateTokens } from '@slowwave/engine';
import { promptOf, type TimedChat } from './timed-chat.ts';
import { limited, NO_TIME, ok, type Try, type Trying } from './trial.ts';

/** Its answer has several hundred tokens. */
const COUNT: ChatCall = {
  name: 'count',
  system: 'count\nWrite all whole numbers from 1 to 300, each of them, in their order.',
  user: 'Count.\n{}',
  schema: {
    type: 'object',
    properties: { numbers: { type: 'array', items: { type: 'integer' } } },
    required: ['numbers'],
    additionalProperties: false,
  },
};
const LIMIT = 32; // tokens
/** Of the budget: a model that is not held to the limit writes on. */
const LIMIT_SHARE = 1 / 3;

/** Whether answers are held to a limit, and to which one. */
export const limitTry = (chat: TimedChat, { config }: Pick<Trying, 'config'>): Try => ({
  tried: 'output limit',
  needs: () => chat.needs(promptOf(COUNT), LIMIT),
  run: async () => {
    const { extraBody = {} } = config.chatServer;
    const own = LIMITS.find((name) => name in extraBody);
    if (own !== undefined) return ok(`${own} of SLOWWAVE_CHAT_EXTRA_BODY`);
    const answer = await chat.ask(COUNT, { limit: LIMIT, share: LIMIT_SHARE });
    const { limit, outputMax } = chat.takes();
    if (limit === 'none')
      return limited('refused', 'a model in a loop writes until its timeout, so set a limit at its server');
    if (answer === null) return limited(`${chat.reached()}, at a limit of ${LIMIT} tokens`, OTHER_LIMIT);
    const { completionTokens } = answer.usage;
    if (completionTokens > 2 * LIMIT)
      return limited(`wrote ${completionTokens} tokens at a limit of ${LIMIT}`, OTHER_LIMIT);
    return ok(`${limit} is respected${outputMax ? `, up to ${outputMax} tokens` : ''}`);
  },
});

const LIMITS = ['max_completion_tokens', 'max_tokens'];
const OTHER_LIMIT =
  'its server may ignore the limit, so set the parameter that it reads in SLOWWAVE_CHAT_EXTRA_BODY, such as {"max_tokens": 8000}';

/** Prompts of consolidations have up to so many tokens, unless one batch alone is longer. */
const ROOM_LEAST = 2_000;
const ROOM_WANTED = [ROOM_LEAST, 4_000, 9_000];

/** A prompt that is little longer than one that was read shows nothing new. */
const LONGER = 1.5;
/** Every consolidation asks that much. Longer prompts are tried where there is time for them. */
const READ_MIN = 1_000; // tokens

/** Whether there is room for long prompts. */
export function roomTry(chat: TimedChat): Try {
  const wanted = (): readonly number[] => ROOM_WANTED.filter((tokens) => tokens > chat.room().read * LONGER);
  return {
    tried: 'context window',
    needs: () => {
      const { read, problem } = chat.room();
      return problem !== null || read >= READ_MIN ? NO_TIME : chat.needs(ROOM_LEAST, 0);
    },
    run: async () => {
      for (const tokens of wanted()) {
        if (chat.room().problem !== null || !chat.hasTimeFor(tokens)) break;
        await chat.ask({ ...ARE_YOU_THERE, system: `${ARE_YOU_THERE.system}\n${fillerOf(tokens)}` }).catch(tooLong);
      }
      const { read, problem } = chat.room();
      if (problem !== null) return limited(problem, ROOM_ADVICE);
      return read >= READ_MIN ? ok(`at least ${read} tokens`) : limited(chat.reached(), SLOW);
    },
  };
}

/** What to do about a model that takes long for what every consolidation asks. */
export const SLOW =
  'this model takes minutes for each consolidation, so choose a faster one, or set SLOWWAVE_MODEL_TIMEOUT_MS to 600000 or more';

/** That is what was to be found out. */
function tooLong(error: unknown): null {
  if (error instanceof EngineError && error.code === 'context_too_long') return null;
  throw error;
}

const SENTENCE = 'The old harbour was quiet in the morning and the boats lay still. ';
const fillerOf = (tokens: number): string => SENTENCE.repeat(Math.ceil(tokens / estimateTokens(SENTENCE)));
