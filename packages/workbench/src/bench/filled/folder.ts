import { rmSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DEFAULT_TENANT, type IndexLane, type LaneId, type Ledger, markerOf, type SearchIndex } from '@slowwave/engine';
import { freePort, spawnService, type TempDir, tempDir } from '@slowwave/testkit';
import { product } from '../../product.ts';
import type { Progress } from '../bench.ts';
import { memoriesIn, ownerAt, pointsOf, type Size } from './points.ts';
import type { Vocabulary } from './words.ts';

export interface Filling {
  readonly size: Size;
  readonly words: Vocabulary;
  /** Of a Qdrant, for the index; null: it is in a file. */
  readonly qdrantUrl: string | null;
  /** What else is put into both stores. */
  readonly more?: (stores: { readonly ledger: Ledger; readonly index: SearchIndex }) => Promise<void>;
}

/** A filled index, and a search process that serves it. */
export interface Filled {
  /** The index itself, for questions without HTTP. */
  readonly index: SearchIndex;
  /** What the index is asked for of a user. */
  laneAt(user: number): Omit<IndexLane, 'tenant'>;
  /** Where it is: the path of its file, or the URL of its server and its name there. */
  readonly place: readonly string[];
  readonly ledgerPath: string;
  readonly searchUrl: string;
  readonly searchPid: number;
  /** On the disk; 0 with the index on a server. */
  indexBytes(): Promise<number>;
}

const ROOT = new URL('../../../../../', import.meta.url);

/** Works with a filled index and a search process, on a folder that is gone afterwards. */
export async function withFilled<T>(
  filling: Filling,
  progress: Progress,
  work: (filled: Filled) => Promise<T>,
): Promise<T> {
  const folder = await tempDir();
  const sweep = (): void => rmSync(folder.path, { recursive: true, force: true, maxRetries: 3 });
  process.once('exit', sweep);
  try {
    return await onFolder(folder, { filling, progress, work });
  } finally {
    await folder.remove();
    process.off('exit', sweep);
  }
}

interface Job<T> {
  readonly filling: Filling;
  readonly progress: Progress;
  work(filled: Filled): Promise<T>;
}

async function onFolder<T>(folder: TempDir, { filling, progress, work }: Job<T>): Promise<T> {
  const { qdrantUrl } = filling;
  // Nobody else's points are under this name.
  const alias = `bench-${Date.now().toString(36)}`;
  const place = qdrantUrl === null ? [join(folder.path, 'index.db')] : [qdrantUrl, alias];
  const index = await product.openIndex(place);
  try {
    const ledgerPath = join(folder.path, 'ledger.db');
    const lanes = await fill(index, ledgerPath, { filling, progress });
    const settings = qdrantUrl === null ? {} : { QDRANT_URL: qdrantUrl, SLOWWAVE_QDRANT_INDEX: alias };
    const { url, service } = await startSearch(folder, settings);
    try {
      const laneAt = (user: number) => ({ owner: ownerAt(user), lane: lanes[user] as LaneId });
      const filled = { index, laneAt, place, ledgerPath, searchUrl: url, searchPid: service.pid };
      return await work({ ...filled, indexBytes: () => bytesIn(folder) });
    } finally {
      await service.stop();
    }
  } finally {
    if (qdrantUrl !== null) await index.clear();
    await index.close();
  }
}

/** Users whose lanes are made at the same time: the ledger commits them together. */
const LANES_AT_ONCE = 500;

/** As a worker does with a new index: without its mark, search says that the index is being built. Answers with the users' lanes. */
async function fill(
  index: SearchIndex,
  ledgerPath: string,
  { filling, progress }: Pick<Job<unknown>, 'filling' | 'progress'>,
): Promise<readonly LaneId[]> {
  const ledger = await product.openLedger(ledgerPath);
  const { size, words, more } = filling;
  try {
    const lanes: LaneId[] = [];
    const laneOf = (user: number) => ledger.memories.laneOf(DEFAULT_TENANT, ownerAt(user), Date.now());
    while (lanes.length < size.users) {
      const users = Array.from(
        { length: Math.min(LANES_AT_ONCE, size.users - lanes.length) },
        (_, i) => lanes.length + i,
      );
      lanes.push(...(await Promise.all(users.map(laneOf))));
    }
    await fillIndex(index, { size, words, lanes }, progress);
    await more?.({ ledger, index });
    const settings = { messagesInIndex: 'hybrid' as const };
    await index.stamp(markerOf({ ledger, embedder: product.embedder(), settings }));
    return lanes;
  } finally {
    await ledger.close();
  }
}

async function startSearch(folder: TempDir, settings: Readonly<Record<string, string>>) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const service = await spawnService({
    main: new URL('apps/search/src/main.ts', ROOT),
    env: {
      SLOWWAVE_LOG_LEVEL: 'warn',
      SLOWWAVE_DATA_DIR: folder.path,
      SLOWWAVE_PORT: String(port),
      ...settings,
    },
    ready: { url: `${url}/readyz` },
  });
  return { url, service };
}

/** Of all files that belong to the index. */
async function bytesIn(folder: TempDir): Promise<number> {
  const names = (await readdir(folder.path)).filter((name) => name.startsWith('index'));
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(folder.path, name))).size));
  return sizes.reduce((sum, size) => sum + size, 0);
}

const AT_ONCE = 500; // points in a write: a transaction of some milliseconds

/** Puts the memories of all users into an index, without what usually goes before: no model, and of the ledger the lanes alone. */
export async function fillIndex(
  index: SearchIndex,
  { size, words, lanes }: { readonly size: Size; readonly words: Vocabulary; readonly lanes: readonly LaneId[] },
  progress: Progress,
): Promise<void> {
  const all = memoriesIn(size);
  let written = 0;
  // The next points are made while those before are written.
  let writing: Promise<void> = Promise.resolve();
  for (let user = 0; user < size.users; user += 1) {
    const lane = lanes[user] as LaneId;
    const points = pointsOf(user, size, words).map((point) => ({ ...point, lane }));
    for (let from = 0; from < points.length; from += AT_ONCE) {
      await writing;
      const some = points.slice(from, from + AT_ONCE);
      writing = index.upsert(some).then(() => {
        written += some.length;
        progress(`filled ${written} of ${all} memories`);
      });
    }
  }
  await writing;
}
