import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { EngineError } from '@slowwave/engine/storing';
import { type Connection, type Ids, memoryServer, ToolError } from '@slowwave/mcp';
import { serveStdio } from '@slowwave/mcp/stdio';
import { createSlowwave, type Slowwave, SlowwaveError } from '@slowwave/sdk';
import type { Call, Given } from './command.ts';
import { quietLog } from './stores.ts';

/** Serves a model over standard input and output until its host closes them, or Ctrl-C. */
export async function serveMcp(call: Call): Promise<void> {
  const { out, cancel } = call;
  const report = (error: unknown): void =>
    out.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const reached = reachedBy(call);
  const slowwave = clientOf(call, reached);
  const connection: Connection = { slowwave, fixed: fixedBy(slowwave, call.given), report };
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), once(cancel, 'abort')]);
  const handle = serveStdio(() => memoryServer(connection), { maxSubscriptions: 0, onerror: report });
  try {
    await ended;
  } finally {
    await handle.close();
    await reached.close();
  }
}

/** A server that somebody named is there or not; that of this machine is started if need be. */
function reachedBy(call: Call): Reached {
  const { serverUrl } = call.config;
  return serverUrl === null ? localServer(call) : { url: serverUrl, fetch, close: async () => {} };
}

function clientOf({ given, config }: Call, { url, fetch }: Reached): Slowwave {
  const user = given.text('user');
  return createSlowwave({
    ...{ url, fetch, apiKey: config.apiKey ?? undefined },
    headers: user === null ? {} : { 'x-slowwave-user': encodeURIComponent(user) },
    // Whoever waits is a model, which may try again itself.
    retries: 0,
  });
}

/** What the key decides, and what the options do. Asked until it is answered once. */
function fixedBy({ send }: Slowwave, given: Given): () => Promise<Ids> {
  const option = (name: string): string | undefined => given.text(name) ?? undefined;
  let known: Ids | null = null;
  return async () => {
    if (known !== null) return known;
    const { user_id, app_id } = await send('GET /v1/session', {}).catch(withHint);
    if (option('user') !== undefined && option('user') !== user_id)
      throw new ToolError(
        'the server does not restrict calls to the user of --user; ask the person to update the server',
      );
    known = {
      ...{ user_id: user_id ?? undefined, app_id: app_id ?? option('app') },
      ...{ agent_id: option('agent'), run_id: option('run') },
    };
    return known;
  };
}

/** Where a host says what key there is: the model can tell the person. */
function withHint(error: unknown): never {
  if (!(error instanceof SlowwaveError) || error.code !== 'unauthorized') throw error;
  throw new ToolError(`${error.message}; set SLOWWAVE_API_KEY in the environment of slowwave mcp`);
}

/** A server, and how it is reached. */
interface Reached {
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
function localServer({ config, cancel, out }: Pick<Call, 'config' | 'cancel' | 'out'>): Reached {
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
