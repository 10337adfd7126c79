import { canonical, EngineError, type EngineErrorCode, type JsonObject, type ModelStore } from '@slowwave/engine';
import { digestOf } from '../prefixes.ts';
import type { OpenaiOptions } from './client.ts';
import type { Manners } from './manners.ts';
import type { ThoughtPlace } from './message.ts';
import type { EmbeddingManners } from './vectors.ts';

/**
 * What was found out about one model of one server. The ledger keeps it, so that neither the next start nor another process
 * has to find it out again. Each part says when it was, in milliseconds.
 */
export interface Profile {
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

export interface Keeping {
  readonly store: ModelStore;
  readonly now: () => number;
}

/** What a server does not take is asked for again by the first process that starts after this long; and it may think no more. */
const HOLD_MS = 7 * 24 * 3_600_000;
/** What is prone to change is said again when there was a call after this long. */
const AGAIN_MS = 10 * 60_000;

type Part = keyof Profile;
type Found<P extends Part> = Omit<NonNullable<Profile[P]>, 'at'>;

/** The profile of one model, as one process adds to it. */
export interface ProfileBook {
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

export function profileBook(
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

/** Another server, another model or other settings have another profile. Neither a key nor the value of a header is in the name. */
export function profileName(use: 'chat' | 'embedding', options: Omit<OpenaiOptions, 'log'>): string {
  const { apiKey: _key, timeoutMs: _timeout, idleTimeoutMs: _idle, maxOutputTokens: _limit, ...request } = options;
  const { extraHeaders = {}, settings: _names, ...rest } = request;
  return `${use} ${digestOf([canonical(rest), Object.keys(extraHeaders)])}`;
}
