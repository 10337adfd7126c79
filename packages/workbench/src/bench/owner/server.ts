import {
  COMPILE_CACHE,
  type EmbeddingScript,
  echoExtractor,
  freePort,
  type ModelServer,
  programFile,
  type Script,
  spawnService,
  startModelServer,
} from '@slowwave/testkit';
import type { Sayings } from './sayings.ts';

/** A model that takes every message for a fact and knows where what is said lies. */
export const startModel = (words: Sayings): Promise<ModelServer> =>
  startModelServer({ script: everyMessageIsAFact(), embeddingScript: embedder(words) });

interface Serving {
  readonly model: ModelServer;
  readonly settings: Readonly<Record<string, string>>;
}

/** The whole product in one process, on a data folder that may have been filled before. */
export async function startServerOn(folder: string, { model, settings }: Serving) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await spawnService({
    main: programFile('standalone'),
    env: {
      ...COMPILE_CACHE,
      ...settings,
      OPENAI_API_KEY: 'scripted',
      OPENAI_BASE_URL: model.baseUrl,
      SLOWWAVE_PORT: String(port),
      SLOWWAVE_DATA_DIR: folder,
      SLOWWAVE_LOG_LEVEL: 'warn',
    },
    ready: { url: `${url}/readyz` },
  });
  return { url, service };
}

/** Nothing that is said changes anything else. */
function everyMessageIsAFact(): Script {
  const extract = echoExtractor();
  return ({ name, input }) => {
    if (name === 'extract_facts') return { json: extract(input as never) };
    if (name !== 'decide_operations') return { json: { there: true, summary: '' } };
    const { facts } = input as unknown as { readonly facts: readonly { readonly id: string; readonly text: string }[] };
    const operations = facts.map(({ id, text }) => ({
      fact: id,
      event: 'ADD',
      id: null,
      text,
      reason: 'new',
      keep: true,
    }));
    return { json: { operations } };
  };
}

const embedder =
  ({ vectorOf }: Sayings): EmbeddingScript =>
  ({ texts }) => ({
    status: 200,
    body: {
      object: 'list',
      model: 'scripted',
      data: texts.map((text, index) => ({ object: 'embedding', index, embedding: base64Of(vectorOf(text)) })),
      usage: { prompt_tokens: 0, total_tokens: 0 },
    },
  });

const base64Of = ({ buffer, byteOffset, byteLength }: Float32Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('base64');
