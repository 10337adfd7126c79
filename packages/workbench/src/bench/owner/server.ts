import { type EmbeddingScript, echoExtractor, type Script, startModelServer, startOwnServer } from '@slowwave/testkit';
import { type Api, apiAt } from '../../api.ts';
import type { Sayings } from './sayings.ts';

/** A server that runs. */
export interface Serving {
  readonly api: Api;
  readonly pid: number;
}

interface Settings {
  readonly words: Sayings;
  readonly settings: Readonly<Record<string, string>>;
}

/**
 * Works with the whole product in one process, on a data folder that may have been filled before. Its model takes every message for a
 * fact and knows where what is said lies.
 */
export async function withServerOn<T>(
  folder: string,
  { words, settings }: Settings,
  work: (serving: Serving) => Promise<T>,
): Promise<T> {
  const model = await startModelServer({ script: everyMessageIsAFact(), embeddingScript: embedder(words) });
  try {
    const given = { ...settings, OPENAI_API_KEY: 'scripted', OPENAI_BASE_URL: model.baseUrl };
    const { url, pid, close } = await startOwnServer(given, folder);
    try {
      return await work({ api: apiAt(url, null), pid });
    } finally {
      await close();
    }
  } finally {
    await model.close();
  }
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
