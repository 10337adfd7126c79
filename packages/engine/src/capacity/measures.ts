/** Something that plans are made from, and where it comes from. */
export interface Measure {
  readonly about: string;
  readonly value: number;
  readonly unit: string;
  /** The command that measures it, and what was seen; or that it is estimated, and why. */
  readonly from: string;
}

const measured = (command: string, seen: string): string => `measured: \`./scripts/bench ${command}\`, ${seen}`;
const estimated = (why: string): string => `estimated: ${why}`;

/**
 * Everything that a plan is made from, for exchanges of two messages. All were measured on two cores, which the programs shared with their
 * servers, the model's stand-in and the load. When a measurement changes, this is the one place to change.
 */
export const MEASURES = {
  peak: {
    about: 'load of the busiest minute, compared with the mean of the day',
    value: 5,
    unit: '×',
    from: estimated('people are awake in the same hours'),
  },
  utilisation: {
    about: 'share of a core that is used at the peak',
    value: 0.5,
    unit: '',
    from: estimated('latency grows steeply beyond it'),
  },
  onePeak: {
    about: 'exchanges that one process accepts and consolidates',
    value: 138,
    unit: '/s',
    from: measured('flood', '138 new users per second'),
  },
  oneMemories: {
    about: 'memories that were searched in one file',
    value: 1_000_000,
    unit: '',
    from: measured('growth', 'p95 17.5 ms over HTTP, 2,000 users'),
  },
  hostPeak: {
    about: 'exchanges that one host with a SQLite ledger and Redis consolidates',
    value: 435,
    unit: '/s',
    from: measured('ledgers', '435 batches per second on two cores'),
  },
  ingestMs: {
    about: 'processor time of accepting an exchange',
    value: 0.244,
    unit: 'ms',
    from: measured('ingest', '244 µs with Redis, six messages'),
  },
  consolidateMs: {
    about: 'processor time of an exchange, all programs and servers together, ledger in PostgreSQL',
    value: 5.7,
    unit: 'ms',
    from: measured('ledgers', '2.85 s for 1,000 messages'),
  },
  databaseShare: {
    about: 'share of that which is PostgreSQL',
    value: 0.5,
    unit: '',
    from: estimated('`./scripts/bench ledgers` measures the sum alone'),
  },
  searchMs: {
    about: 'processor time of a search, at most',
    value: 10.8,
    unit: 'ms',
    from: measured('search', 'the median time of POST /v1/search among 500 memories of a user'),
  },
  searches: { about: 'searches for each exchange', value: 1, unit: '', from: estimated('one before every answer') },
  routeMs: {
    about: 'processor time of passing a request on to its cell',
    value: 0.7,
    unit: 'ms',
    from: measured('router', '700 µs for a search and 600 µs for a post, next to many other programs'),
  },
  directoryMs: {
    about: 'processor time of a transaction of the directory',
    value: 0.2,
    unit: 'ms',
    from: estimated('a few rows by their keys'),
  },
  moveMs: {
    about: 'processor time of moving an exchange to another cell, both cells together',
    value: 1,
    unit: 'ms',
    from: estimated('its rows are read, sent and written; no model is called'),
  },
  callSeconds: {
    about: 'time of a call of the chat model',
    value: 2,
    unit: 's',
    from: estimated('differs by provider'),
  },
  completionTokens: {
    about: 'tokens of an answer of the chat model',
    value: 250,
    unit: '',
    from: estimated('some facts as JSON; `slowwave usage --by step` shows yours'),
  },
  embeddedTokens: {
    about: 'tokens that are embedded for each exchange: both messages, what is remembered of them, a question',
    value: 160,
    unit: '',
    from: estimated('messages of 50 tokens'),
  },
  coresOfDatabase: { about: 'cores of a PostgreSQL', value: 16, unit: '', from: estimated('a usual large server') },
  bytesOfFile: {
    about: 'ledger in a SQLite file',
    value: 5e11,
    unit: 'bytes',
    from: estimated('the size that is still easy to back up'),
  },
  bytesOfDatabase: {
    about: 'disk of a PostgreSQL',
    value: 4e12,
    unit: 'bytes',
    from: estimated('the size that can be restored within hours'),
  },
  memoryOfQdrant: { about: 'memory of a Qdrant', value: 64e9, unit: 'bytes', from: estimated('a usual large server') },
  laneAsleep: {
    about: 'row that stays in the ledger of an owner that sleeps',
    value: 500,
    unit: 'bytes',
    from: estimated(
      'its name and times; calls of models and entries of the audit log stay too, until their days are over',
    ),
  },
  ownerInDatabase: {
    about: 'memories of an owner up to which the index in PostgreSQL is planned, and above which Qdrant',
    value: 200_000,
    unit: '',
    from: 'measured: 15 ms of processor time a search on a busy machine, see [one large owner](#one-large-owner)',
  },
} as const satisfies Readonly<Record<string, Measure>>;

/** Bytes on disk for each exchange: so many, and so many more for each dimension of the vectors. */
interface Bytes {
  readonly base: number;
  readonly perDimension: number;
}

/**
 * Measured with `./scripts/bench bytes`: SQLite with 384 and 1,536 dimensions; PostgreSQL with 384, where 5,300 exchanges of 200 users took 4,870
 * bytes each in the ledger and 2,220 in the index as the tables had grown, and 4,120 and 1,740 compacted. How that grows with
 * dimensions is estimated: as in SQLite, times what growing adds.
 */
export const BYTES: Readonly<Record<'sqlite' | 'postgres', { readonly ledger: Bytes; readonly index: Bytes }>> = {
  sqlite: { ledger: { base: 2_000, perDimension: 1.45 }, index: { base: 710, perDimension: 2.4 } },
  postgres: { ledger: { base: 4_200, perDimension: 1.7 }, index: { base: 1_000, perDimension: 3.1 } },
};

/** In Qdrant, estimated. */
export const BYTES_IN_QDRANT: Bytes = { base: 2_700, perDimension: 3.4 };

/**
 * In the segment of an owner that sleeps: 1,069 bytes with 384 dimensions, measured with `./scripts/bench cold`. How that grows with the vectors is
 * estimated: in 8 bits, each once.
 */
export const BYTES_ASLEEP: Bytes = { base: 685, perDimension: 1 };

/** Vectors that an index has for each exchange: of the memory and of both messages. */
export const VECTORS = 3;

/** What consolidation asks for each message, by the seconds between the exchanges of a user; from `./scripts/bench cost`, separate processes. */
export const ASKED: readonly { readonly gap: number; readonly calls: number; readonly promptTokens: number }[] = [
  { gap: 20, calls: 0.07, promptTokens: 181 },
  { gap: 60, calls: 0.15, promptTokens: 298 },
  { gap: 300, calls: 0.5, promptTokens: 840 },
  { gap: Number.POSITIVE_INFINITY, calls: 1.04, promptTokens: 1_620 },
];
