import { once } from 'node:events';
import type { Connection, Ids } from '@slowwave/mcp';
import { createSlowwave, type Slowwave } from '@slowwave/sdk';
import { type Call, type Command, type Given, OWNER } from '../command.ts';
import { localServer, type Reached } from '../local-server.ts';

export const mcpCommand: Command = {
  name: 'mcp',
  on: 'server',
  summary: 'Offer the memory to a model over standard input and output, as an MCP server.',
  about: `For programs that start it, like Claude Code or Cursor; docs/mcp.md has their settings. Uses
the server of --server or SLOWWAVE_URL with the key in SLOWWAVE_API_KEY. Without one it uses
the standalone server on this machine, and if none is running it is one itself, on the data
folder of this machine. With --user the model sees that user alone.`,
  options: {
    ...OWNER,
    user: {
      value: 'ID',
      about: 'The user whom everything is about; default: that of the key, else each call names one.',
    },
    agent: { value: 'ID', about: 'The agent that it is said to and found by.' },
    run: { value: 'ID', about: 'The run that it is said in and found by.' },
    app: { value: 'ID', about: 'The app that it is said in and found by.' },
  },
  run: async (call) => {
    const reached = call.config.serverUrl === null ? localServer(call) : elsewhere(call.config.serverUrl);
    try {
      await serve(call, reached);
    } finally {
      await reached.close();
    }
    return null;
  },
};

/** A server that somebody named: it is there, or it is not. */
const elsewhere = (url: string): Reached => ({ url, fetch, close: async () => {} });

/** Serves until the program that started this one closes its end, or Ctrl-C. */
async function serve(call: Call, reached: Reached): Promise<void> {
  const { memoryServer } = await import('@slowwave/mcp');
  const { serveStdio } = await import('@slowwave/mcp/stdio');
  const { given, config, out, cancel } = call;
  const user = given.text('user');
  const slowwave = createSlowwave({
    ...{ url: reached.url, fetch: reached.fetch, apiKey: config.apiKey ?? undefined },
    // Whoever waits is a model, which may try again itself.
    retries: 0,
    headers: user === null ? {} : { 'x-slowwave-user': encodeURIComponent(user) },
  });
  const report = (error: unknown): void =>
    out.say(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const connection: Connection = { slowwave, fixed: fixedBy(slowwave, given), report };
  const ended = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), once(cancel, 'abort')]);
  const handle = serveStdio(() => memoryServer(connection), { maxSubscriptions: 0, onerror: report });
  await ended;
  await handle.close();
}

/** What the key of the server decides, and what the options do. Asked once it was answered. */
function fixedBy({ send }: Slowwave, given: Given): () => Promise<Ids> {
  let known: Ids | null = null;
  return async () => {
    if (known !== null) return known;
    const { user_id, app_id } = await send('GET /v1/session', {});
    const option = (name: string): string | undefined => given.text(name) ?? undefined;
    if (given.text('user') !== null && user_id !== given.text('user'))
      throw new Error('expected the server to keep to the user of --user, and it does not; update it');
    known = {
      ...{ user_id: user_id ?? undefined, app_id: app_id ?? option('app') },
      ...{ agent_id: option('agent'), run_id: option('run') },
    };
    return known;
  };
}
