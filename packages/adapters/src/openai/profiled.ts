import { type ChatCall, type ChatModel, EngineError } from '@slowwave/engine';
import { cutIn, openaiChat, promptTokens } from './chat.ts';
import type { OpenaiOptions } from './client.ts';
import { knownManners } from './manners.ts';
import { type Keeping, profileBook, profileName } from './profile.ts';

/** A chat model of which the ledger remembers what was found out about it. */
export function profiledChat(options: OpenaiOptions, keeping: Keeping): ChatModel {
  const { log, ...server } = options;
  const book = profileBook(profileName('chat', server), { ...keeping, log });
  const manners = knownManners();
  const learn: typeof manners.learn = (less) => {
    const before = JSON.stringify(manners.now());
    manners.learn(less);
    const gist = JSON.stringify(manners.now());
    if (gist !== before) book.note('takes', { manners: manners.now() }, gist);
  };
  const chat = openaiChat({ ...options, manners: { now: manners.now, learn } });
  let begun: Promise<void> | null = null;
  const begin = async (): Promise<void> => {
    const { takes } = await book.known();
    if (takes !== undefined) manners.learn(takes.manners);
  };
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      begun ??= begin();
      await begun;
      try {
        const answer = await chat.ask(call, cancel);
        const cut = cutIn(call, answer);
        if (cut !== null) book.note('cut', cut);
        book.ended(null);
        return answer;
      } catch (error) {
        if (isTooLong(error, call)) book.note('room', { refused: promptTokens(call) });
        book.ended(error);
        throw error;
      }
    },
  };
}

/** Nobody knows how much room images take. */
const isTooLong = (error: unknown, { images = [] }: ChatCall): boolean =>
  error instanceof EngineError && error.code === 'context_too_long' && images.length === 0;
