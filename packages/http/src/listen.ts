import { isLoopback } from './loopback.ts';
import type { App, AuthOptions } from './types.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
}

/** Opens the port and returns its address. Never opens it to a network without a key. */
export async function listen(app: App, options: ListenOptions, auth: AuthOptions): Promise<string> {
  if (!isLoopback(options.host) && !(await needsKey(auth))) {
    throw new Error(
      `without a key, listening on ${options.host} ` +
        'would let anyone on the network read and change memories: ' +
        'set SLOWWAVE_API_KEY to a secret, create a key with slowwave keys create operator --scopes admin ' +
        '--offline, or set SLOWWAVE_HOST to 127.0.0.1',
    );
  }
  try {
    return await app.listen({ host: options.host, port: options.port });
  } catch (error) {
    throw explained(error, options);
  }
}

/** Whether requests are asked for a key, from now on and for ever. */
const needsKey = async ({ apiKey, keys }: AuthOptions): Promise<boolean> =>
  apiKey !== null || (keys !== null && (await keys.any()));

/** What a person does about it, where that is known. */
function explained(error: unknown, options: ListenOptions): unknown {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const text = EXPLANATIONS[code]?.(options);
  return text === undefined ? error : new Error(text, { cause: error });
}

const EXPLANATIONS: Readonly<Record<string, (options: ListenOptions) => string>> = {
  EADDRINUSE: ({ host, port }) =>
    `port ${port} on ${host} is already in use: stop the other program, or choose another port with SLOWWAVE_PORT`,
  EADDRNOTAVAIL: ({ host }) => `${host} is not an address of this machine: correct SLOWWAVE_HOST`,
  ENOTFOUND: ({ host }) => `the host name ${host} does not resolve: correct SLOWWAVE_HOST`,
  EACCES: ({ port }) => `port ${port} requires root privileges: choose one above 1023 with SLOWWAVE_PORT`,
};
