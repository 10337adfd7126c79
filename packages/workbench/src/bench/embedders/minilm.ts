import { type LocalEmbedder, openLocalEmbedder } from '@slowwave/adapters/local';
import { minilmFolder, tempDir } from '@slowwave/testkit';
import type { Progress } from '../bench.ts';
import type { Compute } from './watched.ts';
import type { Texts } from './work.ts';

/** What texts take. */
export interface Cost {
  readonly ms: number;
  readonly tokens: number;
}

/** As the product is told of it. */
export const minilmModel = async (): Promise<string> => `local:${await minilmFolder()}`;

const SILENT = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

/** The model on one thread, as it is in the product too; gone afterwards. */
export async function withMinilm<T>(work: (model: LocalEmbedder) => Promise<T>): Promise<T> {
  const folder = await tempDir();
  const opened = await openLocalEmbedder({
    source: { folder: await minilmFolder() },
    prefixes: { query: null, document: null },
    dataDir: folder.path,
    hub: '',
    log: SILENT,
  });
  try {
    await opened.ready(() => {});
    return await work(opened);
  } finally {
    await opened.close();
    await folder.remove();
  }
}

/** Behind HTTP. */
export const computing =
  ({ documents }: LocalEmbedder): Compute =>
  async (texts) => {
    const { vectors } = await documents.embed(texts, NEVER);
    const data = vectors.map((vector, index) => ({ index, embedding: Array.from(vector ?? []) }));
    return { status: 200, body: { data } };
  };

/** Has the model embed texts with nothing else to do. */
export const alone = ({ ofOwners, beside }: Texts, progress: Progress): Promise<Readonly<Record<keyof Texts, Cost>>> =>
  withMinilm(async (model) => {
    progress('embedding the same texts with nothing else to do');
    return { ofOwners: await costOf(model, ofOwners), beside: await costOf(model, beside) };
  });

const NEVER = new AbortController().signal;
/** As many as go into one call of the product. */
const TEXTS_PER_CALL = 64;

async function costOf({ documents }: LocalEmbedder, texts: readonly string[]): Promise<Cost> {
  let tokens = 0;
  const since = performance.now();
  for (let at = 0; at < texts.length; at += TEXTS_PER_CALL) {
    const { usage } = await documents.embed(texts.slice(at, at + TEXTS_PER_CALL), NEVER);
    tokens += usage.promptTokens;
  }
  return { ms: performance.now() - since, tokens };
}
