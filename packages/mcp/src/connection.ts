import type { Slowwave } from '@slowwave/sdk';

/** Whom something is about, as in the API. */
export interface Ids {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
}

/** What tools work with: the API as whoever is connected may use it. */
export interface Connection {
  readonly slowwave: Slowwave;
  /** What every call is about, whatever its arguments say: the key, a header or an option decides it. */
  fixed(): Promise<Ids>;
  /** Reports what should not happen; the caller is only told that it did. */
  report(error: unknown): void;
}

/** A call that a model can mend; the message says how. */
export class ToolError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ToolError';
  }
}

const NAMES = ['user_id', 'agent_id', 'run_id', 'app_id'] as const;

/** The ids of a call, with those of its connection. Throws if they contradict each other. */
export async function idsOf({ fixed }: Connection, given: Ids): Promise<Ids> {
  const standing = await fixed();
  for (const name of NAMES) {
    if (standing[name] === undefined || given[name] === undefined || given[name] === standing[name]) continue;
    const [mine, got] = [JSON.stringify(standing[name]), JSON.stringify(given[name])];
    throw new ToolError(`this connection may only be used with ${name} ${mine}, got ${got}; leave ${name} out`);
  }
  const all = NAMES.map((name) => [name, standing[name] ?? given[name]] as const);
  return Object.fromEntries(all.filter(([, id]) => id !== undefined));
}

/** The same; throws unless they name an owner of memories. */
export async function ownerIn(connection: Connection, given: Ids): Promise<Ids> {
  const ids = await idsOf(connection, given);
  if (ids.user_id !== undefined || ids.agent_id !== undefined || ids.run_id !== undefined) return ids;
  throw new ToolError('expected user_id, because this connection is not for one user; add the id of the person meant');
}
