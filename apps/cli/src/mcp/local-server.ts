import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '@slowwave/engine/storing';
import { ToolError } from '@slowwave/mcp';
import type { Call } from '../command.ts';
import { quietLog } from '../stores.ts';

/** A server, and how it is reached. */
export interface Reached {
  readonly url: string;
  readonly fetch: typeof fetch;
  close(): Promise<void>;
}

/** How long another program may take to start the server, or to stop it: a call waits for that. */
const WITHIN_MS = 20_000;
const PAUSE_MS = 250;

/**
 * The standalone server on this machine. While none answers, this process is it, so that others find it: several programs
 * may start this one side by side, and when the one that had the server ends, the next takes its place.
 */
export function localServer({ config, cancel, out }: Pick<Call, 'config' | 'cancel' | 'out'>): Reached {
  const url = config.localUrl;
  let own: { close(): Promise<void> } | null = null;
  let starting: Promise<void> | null = null;

  const start = async (): Promise<void> => {
    // Loaded only where it is used: it is all of the product.
    const { compose } = await import('@slowwave/standalone');
    const log = await quietLog(config);
    const until = performance.now() + WITHIN_MS;
    for (;;) {
      try {
        own = await compose(config, log);
        return out.say(`no server was running, so this one serves ${url}`);
      } catch (error) {
        // Somebody else was faster, or is about to leave.
        if (await answers(url)) return;
        if (!isTaken(error) || performance.now() > until || cancel.aborted) throw reasonOf(error);
        await sleep(PAUSE_MS);
      }
    }
  };

  const reach: typeof fetch = async (input, init) => {
    try {
      return await fetch(input, init);
    } catch (error) {
      if (!isRefused(error)) throw error;
    }
    starting ??= start().finally(() => {
      starting = null;
    });
    await starting;
    return fetch(input, init);
  };

  // The first call need not wait for the start.
  reach(`${url}/healthz`).catch((error: unknown) => out.say(String(error)));
  return {
    url,
    fetch: reach,
    close: async () => {
      await starting?.catch(() => {});
      await own?.close();
    },
  };
}

/** Nobody listens there, so nothing was sent. */
const isRefused = (error: unknown): boolean => codeOf(error) === 'ECONNREFUSED';

/** The code of the system's error behind one. */
const codeOf = (error: unknown): unknown =>
  error instanceof Error && error.cause instanceof Error && 'code' in error.cause ? error.cause.code : undefined;

/** Another process has the folder or the port. */
const isTaken = (error: unknown): boolean =>
  (error instanceof EngineError && error.retryable) || codeOf(error) === 'EADDRINUSE';

const answers = (url: string): Promise<boolean> =>
  fetch(`${url}/healthz`).then(
    ({ ok }) => ok,
    () => false,
  );

const reasonOf = (error: unknown): ToolError =>
  new ToolError(
    `no server is running, and none could be started: ${error instanceof Error ? error.message : String(error)}`,
  );
