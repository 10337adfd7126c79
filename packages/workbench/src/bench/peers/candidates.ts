import { join } from 'node:path';
import { freePort, type Service, spawnService, startPostgres, tempDir, withChildren } from '@slowwave/testkit';
import { type Api, apiAt } from '../../api.ts';

/** A memory for agents behind HTTP, on stores of its own. */
export interface Candidate {
  readonly name: string;
  start(modelUrl: string): Promise<Running>;
}

export interface Running {
  /** An exchange of a user and an assistant; resolves when it is acknowledged. */
  add(user: string, text: string): Promise<void>;
  /** The texts that it finds. */
  search(user: string, query: string): Promise<readonly string[]>;
  /** Its processes, those of its stores among them. */
  pids(): Promise<readonly number[]>;
  /** kill -9, of the program and not of its stores. */
  crash(): Promise<void>;
  /** Starts it again where it was. */
  resume(): Promise<void>;
  close(): Promise<void>;
}

/** The dimensions of all vectors. */
export const DIMENSIONS = 384;
/** Nobody says a second thing within that time, so that no candidate waits for it. */
const IDLE_MS = 1_000;
const TOP_K = 20;

const answerTo = (text: string): string => `I will keep that in mind: ${text}`;

/** Slowwave in one process, from the checkout of a commit whose scripts/start has run before. */
export const slowwave = (name: string, checkout: string): Candidate => ({
  name,
  start: async (modelUrl) => {
    const [port, folder] = [await freePort(), await tempDir()];
    const url = `http://127.0.0.1:${port}`;
    const start = (): Promise<Service> =>
      spawnService({
        main: join(checkout, 'apps/standalone/src/main.ts'),
        env: {
          NODE_COMPILE_CACHE: join(checkout, '.cache/node'),
          NODE_OPTIONS: '--max-semi-space-size=8', // as scripts/start has it
          OPENAI_API_KEY: 'scripted',
          OPENAI_BASE_URL: modelUrl,
          SLOWWAVE_EMBEDDING_DIMENSIONS: String(DIMENSIONS),
          SLOWWAVE_BATCH_IDLE_MS: String(IDLE_MS),
          SLOWWAVE_PORT: String(port),
          SLOWWAVE_DATA_DIR: folder.path,
          SLOWWAVE_LOG_LEVEL: 'warn',
        },
        ready: { url: `${url}/readyz` },
      });
    return running(await start(), {
      start,
      api: apiAt(url, null),
      ways: {
        add: (api, user_id, text) =>
          api.post('/v1/batches', {
            user_id,
            messages: [
              { role: 'user', content: text },
              { role: 'assistant', content: answerTo(text) },
            ],
          }),
        search: async (api, user_id, query) => {
          const { results } = await api.post<Found>('/v1/search', { user_id, query, top_k: TOP_K });
          return results.map(({ text, memory }) => text ?? memory ?? '');
        },
      },
      stores: async () => [],
      remove: folder.remove,
    });
  },
});

interface Found {
  readonly results: readonly { readonly text?: string; readonly memory?: string }[];
}

/** Hindsight (its slim package) with a PostgreSQL of its own, which needs the extension pgvector. */
export const hindsight = (program: string): Candidate => ({
  name: 'Hindsight',
  start: async (modelUrl) => {
    const [port, folder, postgres] = [await freePort(), await tempDir(), await startPostgres({ durable: true })];
    const url = `http://127.0.0.1:${port}`;
    const ofModel = (part: string) => ({
      [`HINDSIGHT_API_${part}_API_KEY`]: 'scripted',
      [`HINDSIGHT_API_${part}_BASE_URL`]: modelUrl,
      [`HINDSIGHT_API_${part}_MODEL`]: 'scripted',
    });
    const start = (): Promise<Service> =>
      spawnService({
        main: program,
        runs: 'itself',
        env: {
          PATH: '/usr/local/bin:/usr/bin:/bin',
          HOME: folder.path,
          HINDSIGHT_API_HOST: '127.0.0.1',
          HINDSIGHT_API_PORT: String(port),
          HINDSIGHT_API_LOG_LEVEL: 'error',
          HINDSIGHT_API_DATABASE_URL: postgres.url,
          HINDSIGHT_API_LLM_PROVIDER: 'openai',
          ...ofModel('LLM'),
          HINDSIGHT_API_EMBEDDINGS_PROVIDER: 'openai',
          ...ofModel('EMBEDDINGS_OPENAI'),
          HINDSIGHT_API_RERANKER_PROVIDER: 'rrf',
        },
        ready: { url: `${url}/health/ready` },
      });
    const bank = (user: string): string => `/v1/default/banks/${user}/memories`;
    return running(await start(), {
      start,
      api: apiAt(url, null),
      ways: {
        add: (api, user, text) =>
          api.post(bank(user), { items: [{ content: `user: ${text}\nassistant: ${answerTo(text)}` }], async: true }),
        search: async (api, user, query) => {
          const asked = { query, types: ['world', 'experience'], max_tokens: 2_000 };
          const { results } = await api.post<Found>(`${bank(user)}/recall`, asked);
          return results.map(({ text = '' }) => text);
        },
      },
      stores: postgres.pids,
      remove: async () => {
        await postgres.stop();
        await folder.remove();
      },
    });
  },
});

interface Parts {
  start(): Promise<Service>;
  readonly api: Api;
  readonly ways: {
    add(api: Api, user: string, text: string): Promise<unknown>;
    search(api: Api, user: string, query: string): Promise<readonly string[]>;
  };
  stores(): Promise<readonly number[]>;
  remove(): Promise<void>;
}

function running(first: Service, { start, api, ways, stores, remove }: Parts): Running {
  let service: Service | null = first;
  const end = async (): Promise<void> => {
    await service?.kill();
    service = null;
  };
  return {
    add: async (user, text) => void (await ways.add(api, user, text)),
    search: (user, query) => ways.search(api, user, query),
    pids: async () => withChildren([...(service === null ? [] : [service.pid]), ...(await stores())]),
    crash: end,
    resume: async () => {
      service = await start();
    },
    close: async () => {
      await end();
      await remove();
    },
  };
}
