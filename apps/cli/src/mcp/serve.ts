import { once } from 'node:events';
import { type Connection, type Ids, memoryServer, ToolError } from '@slowwave/mcp';
import { serveStdio } from '@slowwave/mcp/stdio';
import { createSlowwave, type Slowwave, SlowwaveError } from '@slowwave/sdk';
import type { Call, Given } from '../command.ts';
import { localServer, type Reached } from './local-server.ts';

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
