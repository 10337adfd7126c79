import {
  ARE_YOU_THERE,
  callModel,
  type EngineDeps,
  EngineError,
  type EngineErrorCode,
  type Ledger,
  type Log,
} from '@slowwave/engine';
import { type Config, ConfigError } from '../config/index.ts';

/** The chat model, asked once at the start: else a wrong key shows only when something waits for it. */
export interface FirstQuestion {
  /** Nobody waits for the answer. What comes of it is kept with the model, and logged if it is bad. */
  ask(): void;
  close(): Promise<void>;
}

type Asking = Pick<EngineDeps, 'chat' | 'meter' | 'tools' | 'log'>;

export function firstQuestion({ chatModel, chatTried }: Config, deps: Asking): FirstQuestion {
  const stopped = new AbortController();
  let running = Promise.resolve();
  return {
    ask: () => {
      if (chatModel === null || !chatTried) return;
      running = callModel({ deps, turn: null, prices: {}, cancel: stopped.signal }, ARE_YOU_THERE).then(
        () => {},
        (error: unknown) => tell(deps.log, { model: chatModel, error }),
      );
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
    log.warn({ model, code: error.code, error: error.message }, 'the chat model does not answer; batches wait for it');
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
  'OPENAI_API_KEY or OPENAI_BASE_URL, or name it builtin to go on with simple rules in place of a model';
