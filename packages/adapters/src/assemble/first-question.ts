import {
  type ChatModel,
  type EngineDeps,
  EngineError,
  type EngineErrorCode,
  type Ledger,
  type Log,
  wonder,
} from '@slowwave/engine';
import { type Config, ConfigError } from '../config/index.ts';

/** The chat models, each asked once at the start: else a wrong key shows only when something waits for it. */
export interface FirstQuestion {
  /** Nobody waits for the answer. What comes of it is kept with the model, and logged if it is bad. */
  ask(): void;
  close(): Promise<void>;
}

type Asking = Pick<EngineDeps, 'ledger' | 'meter' | 'tools' | 'log'> & { readonly each: readonly ChatModel[] };

export function firstQuestion({ chatTried }: Config, { each, ...deps }: Asking): FirstQuestion {
  const stopped = new AbortController();
  let running: Promise<unknown> = Promise.resolve();
  const asked = (chat: ChatModel): Promise<unknown> =>
    wonder({ ...deps, chat }, stopped.signal).catch((error: unknown) => tell(deps.log, { model: chat.name, error }));
  return {
    ask: () => {
      if (chatTried) running = Promise.all(each.filter(({ name }) => name !== 'builtin').map(asked));
    },
    close: async () => {
      stopped.abort();
      await running;
    },
  };
}

/** The model's client warns of a wrong key, address or name itself. An unusable answer is one: the model is there. */
const AWAY: readonly EngineErrorCode[] = [
  'model_unreachable',
  'model_timeout',
  'model_server_error',
  'model_overloaded',
];

function tell(log: Log, { model, error }: { readonly model: string; readonly error: unknown }): void {
  if (error instanceof EngineError && AWAY.includes(error.code))
    log.warn(
      { model, code: error.code, error: error.message },
      'the chat model does not answer; work that needs it waits',
    );
}

const LAST_CHAT = 'last chat';

/**
 * Keeps which chat model makes the memories of a ledger. Where one of a server did, the stand-in takes over only if somebody
 * names it: who forgot a key would notice too late that rules wrote memories beside those of a model.
 */
export async function rememberChat(
  { chatModel, builtinNamed }: Config,
  { models }: Pick<Ledger, 'models'>,
): Promise<void> {
  const last = await models.get(LAST_CHAT);
  if (chatModel === null) {
    if (last !== null && !builtinNamed) throw new ConfigError([forgotten(String(last.model))]);
    return;
  }
  if (last?.model !== chatModel) await models.put(LAST_CHAT, { model: chatModel });
}

const forgotten = (model: string): string =>
  `SLOWWAVE_CHAT_MODEL: expected a model server, because ${model} made the memories of this ledger, got none; set ` +
  'OPENAI_API_KEY or OPENAI_BASE_URL, or set it to builtin to use the builtin rules instead of a model';
