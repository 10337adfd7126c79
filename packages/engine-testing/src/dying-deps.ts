import { EngineError, type TurnDeps } from '@slowwave/engine';

/** What happens at one call of a port. */
export type Fate =
  /** The process ends before the call is carried out; nothing that it calls afterwards is. */
  | 'dies before'
  /** The process ends after the call was carried out, without learning of it. */
  | 'dies after'
  /** The call fails once; the process goes on. */
  | 'fails';

export interface Doomed {
  readonly deps: TurnDeps;
  /** The port's call at which it happened, e.g. "thoughts.storeAnswer"; null where it never came to that. */
  met(): string | null;
}

/** A process whose n-th call of any port goes wrong, counted from 1. */
export function doomed(deps: TurnDeps, nth: number, fate: Fate): Doomed {
  let calls = 0;
  let met: string | null = null;
  const pass = async (name: string, carryOut: () => Promise<unknown>): Promise<unknown> => {
    if (met !== null && fate !== 'fails') throw new Error(`dead since ${met}`);
    calls += 1;
    if (calls !== nth) return carryOut();
    met = name;
    if (fate === 'dies after') await carryOut();
    throw fate === 'fails' ? new EngineError(`${name} failed`, FAILURE) : new Error(`died at ${name}`);
  };
  return { deps: watchedDeps(deps, pass), met: () => met };
}

/** The same, with every call of a port going through `pass`, which is given its name, e.g. "thoughts.storeAnswer". */
export function watchedDeps(deps: TurnDeps, pass: Pass): TurnDeps {
  const { batches, lanes, thoughts, summaries, memories, speech, outbox, settings } = deps.ledger;
  const ledger = {
    ...deps.ledger,
    batches: watched('batches', batches, pass),
    lanes: watched('lanes', lanes, pass),
    thoughts: watched('thoughts', thoughts, pass),
    summaries: watched('summaries', summaries, pass),
    memories: watched('memories', memories, pass),
    speech: watched('speech', speech, pass),
    outbox: watched('outbox', outbox, pass),
    settings: watched('settings', settings, pass),
  };
  const [index, chat, embedder] = [
    watched('index', deps.index, pass),
    watched('chat', deps.chat, pass),
    watched('embedder', deps.embedder, pass),
  ];
  return { ...deps, ledger, index, chat, embedder };
}

const FAILURE = { code: 'internal', retryable: true } as const;

type Pass = (name: string, carryOut: () => Promise<unknown>) => Promise<unknown>;

/** A port whose every method goes through `pass`; what is no method stays as it is. */
function watched<T extends object>(name: string, port: T, pass: Pass): T {
  return new Proxy(port, {
    get(target, key, receiver) {
      const member: unknown = Reflect.get(target, key, receiver);
      if (typeof member !== 'function') return member;
      return (...args: unknown[]) => pass(`${name}.${String(key)}`, () => member.apply(target, args));
    },
  });
}
