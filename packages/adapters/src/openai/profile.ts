import type { ModelView } from '@slowwave/contracts';
import {
  type ChatCall,
  type ChatModel,
  canonical,
  type Embedder,
  EngineError,
  type EngineErrorCode,
  isoOf,
  type JsonObject,
  type Millis,
  type ModelStore,
  promptTokens,
} from '@slowwave/engine';
import { digestOf, ROOM_ADVICE } from '../conventions.ts';
import { type Cut, openaiChat } from './chat.ts';
import type { OpenaiOptions } from './client.ts';
import {
  type EmbedderOptions,
  type EmbeddingManners,
  FULL_EMBEDDING_MANNERS,
  knownEmbeddingManners,
  openaiEmbedder,
} from './embedder.ts';
import { type KnownManners, knownManners, type Manners } from './manners.ts';
import { placeOf, type ThoughtPlace } from './message.ts';

/**
 * What was found out about one model of one server. The ledger keeps it, so that neither the next start nor another process
 * has to find it out again. Each part says when it was, in milliseconds.
 */
interface Profile {
  /** It takes no more than this. */
  readonly takes?: { readonly at: number; readonly manners: Manners };
  /** The same of an embedding model. */
  readonly embeds?: { readonly at: number; readonly manners: EmbeddingManners };
  /** It thinks before it answers, and there its thoughts stand. */
  readonly thinks?: { readonly at: number; readonly place: ThoughtPlace };
  /** It had no room for a prompt of so many tokens, as Slowwave estimates them. */
  readonly room?: { readonly at: number; readonly refused: number };
  /** Its server read only so many tokens of a prompt, without saying so. */
  readonly cut?: { readonly at: number; readonly sent: number; readonly read: number };
  /** How its last call ended. null: with an answer. */
  readonly last?: { readonly at: number; readonly problem: Problem | null };
}

interface Problem {
  readonly code: EngineErrorCode;
  /** What was expected, what was received and what to do, in one sentence. */
  readonly message: string;
}

interface Keeping {
  readonly store: ModelStore;
  readonly now: () => number;
}

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

/** Another server, another model or other settings have another profile. Neither a key nor the value of a header is in the name. */
export function profileName(use: 'chat' | 'embedding', options: Omit<OpenaiOptions, 'log'>): string {
  const { apiKey: _key, timeoutMs: _timeout, idleTimeoutMs: _idle, maxOutputTokens: _limit, ...request } = options;
  const { extraHeaders = {}, settings: _names, ...rest } = request;
  return `${use} ${digestOf([canonical(rest), Object.keys(extraHeaders)])}`;
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

/** What a server does not take is asked for again by the first process that starts after this long; and it may think no more. */
const HOLD_MS = 7 * 24 * 3_600_000;
/** What is prone to change is said again when there was a call after this long. */
const AGAIN_MS = 10 * 60_000;

type Part = keyof Profile;
type Found<P extends Part> = Omit<NonNullable<Profile[P]>, 'at'>;

/** The profile of one model, as one process adds to it. */
interface ProfileBook {
  /** Nothing is known where the ledger does not answer. */
  known(): Promise<Profile>;
  /**
   * Whether that is news. Nobody waits for it: what is not kept is found out once more. `gist`: what has the same one need not be
   * written at once.
   */
  note<P extends Part>(part: P, found: Found<P>, gist?: string): boolean;
  /** How a call ended; null: it was answered. */
  ended(error: unknown): void;
}

function profileBook(
  name: string,
  { store, now, log, model }: Keeping & Pick<OpenaiOptions, 'log' | 'model'>,
): ProfileBook {
  const said = new Map<Part, { readonly gist: string; readonly at: number }>();
  let writing: Promise<unknown> = Promise.resolve();
  const note: ProfileBook['note'] = (part, found, gist = '') => {
    const [before, at] = [said.get(part), now()];
    if (before?.gist === gist && at - before.at < AGAIN_MS) return false;
    said.set(part, { gist, at });
    // Other processes add what they find out.
    const merged = async () => store.put(name, { ...(await store.get(name)), [part]: { at, ...found } } as JsonObject);
    writing = writing
      .then(merged)
      .catch((error: unknown) => log.debug({ error: String(error) }, 'could not store what is known about a model'));
    return true;
  };
  return {
    note,
    known: () => knownProfile(name, { store, now }).catch(() => ({})),
    ended: (error) => {
      if (error !== null && !showsProblem(error)) return;
      const problem = error && { code: error.code, message: error.message };
      const isNew = note('last', { problem }, problem?.code ?? 'answered');
      // Work that waits for it loses no tries, and warns of nothing.
      if (isNew && problem?.code === 'model_misconfigured')
        log.warn({ model, code: problem.code, error: problem.message }, 'a model is misconfigured');
    },
  };
}

interface Reading extends Pick<Keeping, 'now'> {
  readonly store: Pick<ModelStore, 'get'>;
}

/** Without what may have changed. */
export async function knownProfile(name: string, { store, now }: Reading): Promise<Profile> {
  const { takes, embeds, thinks, ...known } = ((await store.get(name)) ?? {}) as Profile;
  const holds = (part?: { readonly at: number }): boolean => part !== undefined && now() - part.at <= HOLD_MS;
  const passing = {
    ...(holds(takes) && { takes }),
    ...(holds(embeds) && { embeds }),
    ...(holds(thinks) && { thinks }),
  };
  return { ...known, ...passing };
}

/** That the server, its settings or the way to it are at fault, rather than what was asked. */
const showsProblem = (error: unknown): error is EngineError =>
  error instanceof EngineError && TELLING.includes(error.code);

const TELLING: readonly EngineErrorCode[] = [
  'model_misconfigured',
  'model_unreachable',
  'model_timeout',
  'model_server_error',
  'model_overloaded',
];

type Findings = ModelView['findings'];
type Property = Findings[number]['property'];
/** What is known of one property; null: nothing that would have to be said. */
type Known = readonly [property: Property, what: string | null, remedy?: string];

/** What is known of a model, for people. */
export function findingsIn({ takes, embeds, thinks, room, cut }: Profile): Findings {
  return [
    ...found(takes, ({ manners }) => refusedBy(manners)),
    ...found(thinks, ({ place }) => [['thoughts', `thinks before it answers, ${placeOf(place)}`]]),
    ...found(embeds, ({ manners }) => refusedEmbedding(manners)),
    ...found(room, ({ refused }) => [['window', `refused a prompt of about ${refused} tokens`, ROOM_ADVICE]]),
    ...found(cut, ({ sent, read }) => [
      ['window', `read only ${read} of ${sent} tokens of a prompt, without saying so`, ROOM_ADVICE],
    ]),
  ];
}

function found<P extends { readonly at: Millis }>(part: P | undefined, known: (part: P) => readonly Known[]): Findings {
  if (part === undefined) return [];
  return known(part).flatMap(([property, what, remedy = null]) =>
    what === null ? [] : [{ property, at: isoOf(part.at), what, remedy }],
  );
}

const refusedBy = ({ format, temperature, system, limit, stream, outputMax }: Manners): readonly Known[] => [
  ['answer_form', format === 'json_schema' ? null : `does not accept json_schema, so ${format} is used`],
  ['temperature', temperature ? null : 'does not accept temperature, so it is not sent'],
  ['system_role', system ? null : 'does not accept the system role, so instructions are in the user message'],
  [
    'output_limit',
    limit === 'max_completion_tokens' ? null : `does not accept max_completion_tokens, so ${LIMITS[limit]}`,
  ],
  ['output_limit', outputMax ? `writes at most ${outputMax} tokens` : null],
  [
    'streaming',
    stream === 'none' ? 'does not stream answers, or does not count their tokens, so they are not streamed' : null,
  ],
];

const LIMITS = { max_tokens: 'answers are limited by max_tokens', none: 'answers are not limited' } as const;

const refusedEmbedding = ({ dimensions, base64, texts, tooLong, longest }: EmbeddingManners): readonly Known[] => [
  [
    'dimensions',
    dimensions ? null : 'does not accept dimensions, so its vectors have the length that the model gives them',
  ],
  ['base64', base64 ? null : 'does not accept base64, so vectors are sent as numbers'],
  [
    'texts_at_once',
    texts === FULL_EMBEDDING_MANNERS.texts ? null : `takes ${texts} texts in a request and refused more`,
  ],
  [
    'text_length',
    tooLong === FULL_EMBEDDING_MANNERS.tooLong
      ? null
      : `refused a text of about ${tooLong} tokens, so only the first ${longest} of such texts are embedded`,
  ],
];
