import { startPostgres, tempDir } from '@slowwave/testkit';
import { seededRandom } from '../../chaos/random.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import { cpuTimes, cpuUse, residentBytes } from '../host.ts';
import { atMost, type Found, median, quantile } from '../report.ts';
import { fill, PARTS, settingsOf, sourceOf } from './fill.ts';
import { type Sayings, sayings } from './sayings.ts';
import { type Serving, withServerOn } from './server.ts';

const DIMENSIONS = 384;
/** What an owner with very many may cost, of one with few. */
const TARGET = 2;
const RECALL_LEAST = 0.99;
const P95 = 0.95;
const TOP_K = 10;

const USER = { kind: 'user', id: 'reader' } as const;
/** Facts of one consolidation that is measured. */
const FACTS = 5;
const WARM = 20;
const MIB = 2 ** 20;

/** What one owner costs who has very much. */
export const owner: Bench = {
  name: 'owner',
  what: 'What searches, contexts, direct writes and consolidations cost for one owner with few memories and with very many, in one process; and whether searches find the nearest memories.',
  flags: {
    memories: { usual: '1000,10000,50000', help: 'Memories of the owner, separated by commas: a server for each.' },
    questions: {
      usual: '200',
      help: 'Searches of each kind, half as many writes, and a tenth as many consolidations.',
    },
    stores: { usual: 'sqlite', help: 'Where ledger and index are: sqlite or postgres.' },
  },
  run: async (given, progress) => {
    const { sizes, questions, stores } = optionsOf(given);
    const words = sayings(DIMENSIONS);
    const measured: Measured[] = [];
    for (const size of sizes) measured.push(await onServer({ size, questions, stores, words }, progress));
    return foundOf(measured, stores);
  },
};

const optionsOf = (given: Given) => ({
  sizes: given.numbers('memories', { min: 100 }).toSorted((a, b) => a - b),
  questions: given.number('questions', { max: 100_000 }),
  stores: given.choice('stores', ['sqlite', 'postgres']),
});

/** Requests, one after the other. */
interface Timed {
  /** ms of each. */
  readonly times: readonly number[];
  /** ms of processors that the process took for one, which says more where a machine has other work. */
  readonly cpu: number;
  /** Of these, those of the database server. */
  readonly database: number;
}

interface Stage {
  readonly size: number;
  readonly questions: number;
  readonly stores: 'sqlite' | 'postgres';
  readonly words: Sayings;
}

interface Measured {
  readonly size: number;
  readonly searches: Timed;
  /** With a filter that all memories fit. */
  readonly filtered: Timed;
  /** With a filter that nobody asked before. */
  readonly byMetadata: Timed;
  readonly byText: Timed;
  readonly contexts: Timed;
  /** ms of the first search. */
  readonly first: number;
  readonly writes: Timed;
  readonly batches: Timed;
  /** The share of the nearest ten that a search by meaning brings. */
  readonly recall: number;
  readonly bytes: number;
}

async function onServer(stage: Stage, progress: Progress): Promise<Measured> {
  const { size, words } = stage;
  const postgres = stage.stores === 'postgres' ? await startPostgres() : null;
  const folder = await tempDir();
  try {
    const random = seededRandom(`memories of ${USER.id}`);
    const lines = Array.from({ length: size }, (_, i) => words.line(random, i));
    await fill(postgres === null ? { folder: folder.path } : { database: postgres.url }, {
      ...{ dimensions: DIMENSIONS, owner: USER, lines, vectorOf: words.vectorOf },
      progress: (filled) => progress(`${size} memories: filled ${filled}`),
    });
    const onPostgres = postgres === null ? {} : { DATABASE_URL: postgres.url, SLOWWAVE_INDEX: 'postgres' };
    const settings = { ...settingsOf({ dimensions: DIMENSIONS }), ...onPostgres };
    return await withServerOn(folder.path, { words, settings }, (serving) => {
      const pids = async () => [serving.pid, ...((await postgres?.pids()) ?? [])] as const;
      return measure({ ...stage, ...serving, lines, pids }, progress);
    });
  } finally {
    await folder.remove();
    await postgres?.stop();
  }
}

type Running = Stage &
  Serving & {
    readonly lines: readonly string[];
    /** Of the process and of the database server, whose connections come and go. */
    pids(): Promise<readonly [number, ...number[]]>;
  };

async function measure(running: Running, progress: Progress): Promise<Measured> {
  const { size, questions, words, lines, api, pid, pids } = running;
  const random = seededRandom(`questions to ${USER.id}`);
  const asked = Array.from({ length: questions }, () => words.question(random));
  const search = (query: string, more = {}) =>
    api.post<{ results: readonly { memory: string }[] }>('/v1/search', {
      user_id: USER.id,
      query,
      top_k: TOP_K,
      ...more,
    });
  progress(`${size} memories: comparing`);
  // Before anything is asked: a connection that is not used meanwhile would be closed.
  const near = nearestOf(lines, words);
  const nearestTo = new Map(asked.map((query) => [query, near(query)]));
  progress(`${size} memories: asking`);
  const first = await timeOf(() => search(asked[0] ?? ''));
  // Embedded once, so that no time of the embedder is measured.
  for (const query of [...asked, ...asked.slice(0, WARM)]) await search(query);
  const searches = await timed(pids, asked, (query) => search(query));
  const filters = { immutable: false };
  await search(asked[0] ?? '', { filters });
  // What filters of a kind ask for is laid out with the first of them.
  const newly = async (filterOf: (number: number) => object): Promise<Timed> => {
    await search(asked[0] ?? '', { filters: filterOf(size) });
    return timed(pids, [...asked.entries()], ([i, query]) => search(query, { filters: filterOf(i) }));
  };
  const filtered = await timed(pids, asked, (query) => search(query, { filters }));
  const [byMetadata, byText] = [await newly(metadataFilter), await newly(textFilter)];
  const contexts = await timed(pids, asked, (query) => api.post('/v1/context', { user_id: USER.id, query }));
  let found = 0;
  let nearest = 0;
  for (const query of asked) {
    const { results } = await search(query, { mode: 'vector' });
    const texts = new Set(results.map(({ memory }) => memory));
    const best = nearestTo.get(query) ?? [];
    found += best.filter((text) => texts.has(text)).length;
    nearest += best.length;
  }
  progress(`${size} memories: writing`);
  const written = Array.from({ length: Math.ceil(questions / 2) }, (_, i) => words.line(random, size + i));
  const writes = await timed(pids, written, (memory) => api.post('/v1/memories', { user_id: USER.id, memory }));
  progress(`${size} memories: consolidating`);
  const said = Array.from({ length: Math.ceil(questions / 10) }, (_, i) =>
    Array.from({ length: FACTS }, (_, n) => words.line(random, 2 * size + i * FACTS + n)),
  );
  const batches = await timed(pids, said, (facts) => {
    const messages = facts.map((content) => ({ role: 'user', content }));
    return api.post('/v1/batches?wait=30000', { user_id: USER.id, messages, flush: true });
  });
  const bytes = await residentBytes(pid);
  const times = { searches, filtered, byMetadata, byText, contexts, writes, batches };
  return { size, first, ...times, recall: found / nearest, bytes };
}

const metadataFilter = (number: number) => ({
  metadata: { part: number % PARTS, source: { ne: sourceOf(number) } },
});

const textFilter = (number: number) => ({ memory: { icontains: `on TRIP ${number}` } });

/** The nearest lines by looking at each of them. */
function nearestOf(lines: readonly string[], { vectorOf }: Sayings): (query: string) => readonly string[] {
  const all = new Float32Array(lines.length * DIMENSIONS);
  for (const [i, line] of lines.entries()) all.set(vectorOf(line), i * DIMENSIONS);
  return (query) => {
    const asked = vectorOf(query);
    const scores = lines.map((text, i) => {
      let score = 0;
      for (let n = 0; n < DIMENSIONS; n += 1) score += (all[i * DIMENSIONS + n] as number) * (asked[n] as number);
      return { text, score };
    });
    return scores
      .sort((a, b) => b.score - a.score)
      .slice(0, TOP_K)
      .map(({ text }) => text);
  };
}

async function timed<T>(pids: Running['pids'], all: readonly T[], work: (one: T) => Promise<unknown>): Promise<Timed> {
  const times: number[] = [];
  const [server, ...database] = await pids();
  const before = [await cpuTimes([server]), await cpuTimes(database)] as const;
  for (const one of all) times.push(await timeOf(() => work(one)));
  const own = cpuUse(before[0], await cpuTimes([server])).ms / all.length;
  const databases = cpuUse(before[1], await cpuTimes(database)).ms / all.length;
  return { times, cpu: own + databases, database: databases };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

function foundOf(measured: readonly Measured[], stores: Stage['stores']): Found {
  const [few, ...more] = measured;
  const name = ({ size }: Measured): string => `${size.toLocaleString('en')} memories`;
  return {
    title: `owner: one user with ${measured.map(({ size }) => size.toLocaleString('en')).join(', ')} memories of ${DIMENSIONS} dimensions, ${STORES[stores]}`,
    figures: measured.flatMap((one) => figuresOf(name(one), one)),
    verdicts: measured.map((one) => ({
      what: `the nearest ten that are found of ${name(one)}`,
      reached: one.recall.toFixed(4),
      target: `at least ${RECALL_LEAST}`,
      passed: one.recall >= RECALL_LEAST,
      misses: [],
    })),
    comparisons:
      few === undefined
        ? []
        : more.flatMap((many) =>
            KINDS.flatMap((kind) => [
              atMost(TARGET, {
                what: `${NAMES[kind]}, median`,
                unit: 'ms',
                ours: { name: name(many), value: median(many[kind].times) },
                yardstick: { name: name(few), value: median(few[kind].times) },
              }),
              atMost(TARGET, {
                what: `${NAMES[kind]}, of processors`,
                unit: 'ms',
                ours: { name: name(many), value: many[kind].cpu },
                yardstick: { name: name(few), value: few[kind].cpu },
              }),
            ]),
          ),
    remarks: [
      'One request after the other. Questions are embedded before they are measured; the models answer at once.',
      'Vectors lie as those of a model do: in clusters, with directions that say more than others.',
      'Times of processors are those of the process, and of the database server where there is one; what lists and codes that are made anew take is in them.',
    ],
  };
}

const KINDS = ['searches', 'filtered', 'byMetadata', 'byText', 'contexts', 'writes', 'batches'] as const;
const STORES = { sqlite: 'in SQLite', postgres: 'in PostgreSQL' };

const NAMES = {
  searches: 'POST /v1/search',
  filtered: 'the same with a filter that was asked before',
  byMetadata: 'the same with a new filter by metadata',
  byText: 'the same with a new filter by a part of the text',
  contexts: 'POST /v1/context',
  writes: 'POST /v1/memories',
  batches: `a batch of ${FACTS} facts, posted until it is consolidated`,
} as const;

const figuresOf = (name: string, { first, recall, bytes, ...kinds }: Measured) => [
  { what: `${name}: memory of the process`, value: bytes / MIB, unit: 'MiB' },
  { what: '  the nearest ten that a search finds', value: recall, unit: '' },
  { what: '  the first search', value: first, unit: 'ms' },
  ...KINDS.flatMap((kind) => [
    { what: `  ${NAMES[kind]}, median`, value: median(kinds[kind].times), unit: 'ms' },
    { what: '    95 of 100', value: quantile(kinds[kind].times, P95), unit: 'ms' },
    { what: '    of processors', value: kinds[kind].cpu, unit: 'ms' },
    ...(kinds[kind].database === 0
      ? []
      : [{ what: '      of these the database server', value: kinds[kind].database, unit: 'ms' }]),
  ]),
];
