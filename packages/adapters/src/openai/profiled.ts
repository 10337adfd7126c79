import { type ChatCall, type ChatModel, type Embedder, EngineError } from '@slowwave/engine';
import { ROOM_ADVICE } from '../misconfigured.ts';
import { type Cut, openaiChat, promptTokens } from './chat.ts';
import type { OpenaiOptions } from './client.ts';
import { type EmbedderOptions, openaiEmbedder } from './embedder.ts';
import { type KnownManners, knownManners } from './manners.ts';
import type { ThoughtPlace } from './message.ts';
import { type Keeping, profileBook, profileName } from './profile.ts';
import { knownEmbeddingManners } from './vectors.ts';

/** A chat model of which the ledger remembers what was found out about it. */
export function profiledChat(options: OpenaiOptions, keeping: Keeping): ChatModel {
  const { log, ...server } = options;
  const book = profileBook(profileName('chat', server), { ...keeping, log, model: server.model });
  const manners = knownManners();
  const noted = whenLess(manners, (less, gist) => book.note('takes', { manners: less }, gist));
  const watch = {
    thought: (place: ThoughtPlace) => void book.note('thinks', { place }, place),
    cut: (cut: Cut) => void book.note('cut', cut),
  };
  const chat = openaiChat({ ...options, manners: noted, watch });
  const noteRoom = (refused: number): void => {
    if (book.note('room', { refused }))
      log.warn(
        { model: server.model, tokens: refused },
        `the chat model refused a prompt because of its length; ${ROOM_ADVICE}`,
      );
  };
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
        book.ended(null);
        return answer;
      } catch (error) {
        if (isTooLong(error, call)) noteRoom(promptTokens(call));
        book.ended(error);
        throw error;
      }
    },
  };
}

/** An embedder of which the ledger remembers the same. */
export async function profiledEmbedder(options: EmbedderOptions, keeping: Keeping): Promise<Embedder> {
  const { log, length: _known, ...server } = options;
  const book = profileBook(profileName('embedding', server), { ...keeping, log, model: server.model });
  const manners = knownEmbeddingManners();
  const { embeds } = await book.known();
  if (embeds !== undefined) manners.learn(embeds.manners);
  const noted = whenLess(manners, (less, gist) => book.note('embeds', { manners: less }, gist));
  const failed = (error: unknown): never => {
    book.ended(error);
    throw error;
  };
  const embedder = await openaiEmbedder({ ...options, manners: noted }).catch(failed);
  return {
    ...embedder,
    embed: async (texts, cancel) => {
      const embedded = await embedder.embed(texts, cancel).catch(failed);
      if (texts.length > 0) book.ended(null);
      return embedded;
    },
  };
}

/** The same manners; what they lose is noted. */
function whenLess<M>(manners: KnownManners<M>, note: (less: M, gist: string) => void): KnownManners<M> {
  return {
    now: manners.now,
    learn: (less) => {
      const before = JSON.stringify(manners.now());
      manners.learn(less);
      const gist = JSON.stringify(manners.now());
      if (gist !== before) note(manners.now(), gist);
    },
  };
}

/** Nobody knows how much room images take. */
const isTooLong = (error: unknown, { images = [] }: ChatCall): boolean =>
  error instanceof EngineError && error.code === 'context_too_long' && images.length === 0;
