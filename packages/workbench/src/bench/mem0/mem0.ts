import { setTimeout as sleep } from 'node:timers/promises';
import { freePort, type Script, spawnService, tempDir } from '@slowwave/testkit';
import { type Api, apiAt } from '../../api.ts';

export interface Said {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

/** What a call took, as mem0 sees it. */
interface Took {
  readonly ms: number;
  /** What of it was spent on embeddings. */
  readonly embeddingMs: number;
  /** Memories it made or found. */
  readonly found: number;
}

/** mem0, the library, in a process of its own. */
export interface Mem0 {
  /** Resolves when mem0's add() has. */
  add(user: string, messages: readonly Said[]): Promise<Took>;
  /** Memories without the way there. */
  fill(user: string, texts: readonly string[]): Promise<Took>;
  search(user: string, query: string, topK: number): Promise<Took>;
}

export interface Mem0Options {
  /** Of the model and the embedder. */
  readonly modelUrl: string;
  readonly dimensions: number;
  /** null: its vectors are in its own store, a file of SQLite. */
  readonly qdrantUrl?: string | null;
}

/** Works with a mem0 that is gone afterwards, with its files. */
export async function withMem0<T>(options: Mem0Options, work: (mem0: Mem0) => Promise<T>): Promise<T> {
  const folder = await tempDir();
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { modelUrl, dimensions, qdrantUrl = null } = options;
  try {
    const service = await spawnService({
      main: new URL('main.ts', import.meta.url),
      args: [String(port), modelUrl, String(dimensions), folder.path, qdrantUrl ?? ''],
      cwd: folder.path,
      // It reports home unless that is switched off.
      env: { MEM0_TELEMETRY: 'false', MEM0_DIR: folder.path, HOME: folder.path },
      ready: { url: `${url}/readyz` },
    });
    const api = apiAt(url, null);
    try {
      return await work(callsTo(api));
    } finally {
      if (qdrantUrl !== null) await api.post('/reset', {});
      await service.kill();
    }
  } finally {
    await folder.remove();
  }
}

const callsTo = (api: Api): Mem0 => ({
  add: (user_id, messages) => api.post('/add', { user_id, messages }),
  fill: (user_id, texts) => api.post('/fill', { user_id, texts }),
  search: (user_id, query, top_k) => api.post('/search', { user_id, query, top_k }),
});

/** Answers mem0's one call for an add(): every message of the user is one memory. */
export const mem0Model: Script = ({ request }) => {
  const { content } = (request.messages as unknown as readonly Said[]).at(-1) ?? { content: '' };
  const said = content.split('## New Messages\n')[1]?.split('\n\n## Observation Date')[0] ?? '';
  const texts = [...said.matchAll(/^user: (.*)$/gm)].map(([, text]) => text);
  return { json: { memory: texts.map((text, id) => ({ id: String(id), text, attributed_to: 'user' })) } };
};

/** The same answers after some time of thinking; embeddings come at once. */
export const thinking =
  (ms: number, script: Script): Script =>
  async (call) => {
    await sleep(ms);
    return script(call);
  };
