import { isLoopback } from './loopback.ts';
import type { App } from './types.ts';

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  readonly apiKey: string | null;
}

/** Opens the port and returns its address. Never opens it to a network without a key. */
export async function listen(app: App, options: ListenOptions): Promise<string> {
  if (options.apiKey === null && !isLoopback(options.host)) {
    throw new Error(
      `listening on ${options.host} would let anyone on the network read and change memories: ` +
        'set SLOWWAVE_API_KEY to a secret, or set SLOWWAVE_HOST to 127.0.0.1',
    );
  }
  return app.listen({ host: options.host, port: options.port });
}
