import { freePort, programFile, type Service, spawnService } from '@slowwave/testkit';

const STANDALONE = programFile('standalone');

/** A standalone server on a folder. */
export interface TestServer extends Service {
  readonly url: string;
  /** Posts what a user says, to be consolidated at once. */
  post(userId: string, content: string): Promise<void>;
  /** Posts what a user says, and waits until it is consolidated. */
  say(userId: string, content: string): Promise<string>;
  /** What is remembered of a user. */
  memories(userId: string): Promise<readonly unknown[]>;
}

export async function startServer(folder: string, env: Readonly<Record<string, string>> = {}): Promise<TestServer> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await spawnService({
    main: STANDALONE,
    env: {
      SLOWWAVE_DATA_DIR: folder,
      SLOWWAVE_PORT: String(port),
      SLOWWAVE_LOG_LEVEL: 'warn',
      ...env,
    },
    ready: { url: `${url}/readyz` },
  });
  const { SLOWWAVE_API_KEY: key } = env;
  const headers = {
    'content-type': 'application/json',
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
  const posted = (userId: string, content: string, query: string): Promise<Response> => {
    const body = JSON.stringify({ user_id: userId, flush: true, messages: [{ role: 'user', content }] });
    return fetch(`${url}/v1/batches${query}`, { method: 'POST', headers, body });
  };
  const post = async (userId: string, content: string): Promise<void> => {
    await (await posted(userId, content, '')).arrayBuffer();
  };
  const say = async (userId: string, content: string): Promise<string> => {
    const response = await posted(userId, content, '?wait=60000');
    const { id, state } = (await response.json()) as { id: string; state: string };
    if (!['consolidated', 'empty'].includes(state)) throw new Error(`batch ${id} is ${state}`);
    return id;
  };
  const memories = async (userId: string): Promise<readonly unknown[]> => {
    const response = await fetch(`${url}/v1/memories?user_id=${encodeURIComponent(userId)}`, { headers });
    return ((await response.json()) as { results: unknown[] }).results;
  };
  return { ...service, url, post, say, memories };
}
