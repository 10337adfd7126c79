/** Something that plans are made from, and where it comes from. */
interface Measure {
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
    about: 'memories in one file, up to which searches were measured',
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
    from: estimated('its rows are read, sent and written, without a model'),
  },
  callSeconds: {
    about: 'duration of a chat model call',
    value: 2,
    unit: 's',
    from: estimated('differs by provider'),
  },
  completionTokens: {
    about: 'tokens of a chat model answer',
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
  coresOfDatabase: { about: 'cores of a PostgreSQL', value: 16, unit: '', from: estimated('a typical large server') },
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
  memoryOfQdrant: {
    about: 'memory of a Qdrant',
    value: 64e9,
    unit: 'bytes',
    from: estimated('a typical large server'),
  },
  laneAsleep: {
    about: 'row that stays in the ledger for a sleeping owner',
    value: 500,
    unit: 'bytes',
    from: estimated('its name and times; model calls and audit log entries also stay until their retention ends'),
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
const VECTORS = 3;

/** What consolidation asks for each message, by the seconds between the exchanges of a user; from `./scripts/bench cost`, separate processes. */
export const ASKED: readonly { readonly gap: number; readonly calls: number; readonly promptTokens: number }[] = [
  { gap: 20, calls: 0.07, promptTokens: 181 },
  { gap: 60, calls: 0.15, promptTokens: 298 },
  { gap: 300, calls: 0.5, promptTokens: 840 },
  { gap: Number.POSITIVE_INFINITY, calls: 1.04, promptTokens: 1_620 },
];
/** What is asked for. */
export interface Wanted {
  readonly users: number;
  /** Of each user. */
  readonly messagesPerDay: number;
  readonly dimensions: number;
  /** Seconds between the exchanges of a user who talks. */
  readonly gap: number;
  /** For how long disks have to last. */
  readonly months: number;
  /** Of all users, those that sleep when the months are over: 0 to less than 1. */
  readonly asleep: number;
}

export interface Part {
  readonly name: string;
  readonly count: number;
  readonly why: string;
}

interface Disk {
  readonly name: string;
  readonly bytesPerMonth: number;
  /** When the months are over. */
  readonly bytes: number;
}

type Setup = 'one process' | 'one host' | 'several hosts' | 'cells';

export interface CapacityPlan {
  readonly setup: Setup;
  readonly exchangesPerSecond: { readonly mean: number; readonly peak: number };
  readonly processes: readonly Part[];
  readonly stores: readonly Part[];
  readonly disks: readonly Disk[];
  readonly tokensPerMonth: {
    readonly calls: number;
    readonly prompt: number;
    readonly completion: number;
    readonly embedded: number;
  };
}

const DAYS = 30;
const DAY_S = 86_400;
const MS = 1_000;
const MESSAGES = 2;
const BYTES_OF_NUMBER = 1; // quantised
const LINKS_AND_IDS = 200; // bytes of a vector in memory beside its numbers

const { peak, utilisation, databaseShare, searches } = MEASURES;

/** Everything in it follows from the measures. */
export function capacityPlan(wanted: Wanted): CapacityPlan {
  const exchangesPerDay = (wanted.users * wanted.messagesPerDay) / MESSAGES;
  const mean = exchangesPerDay / DAY_S;
  const load = { mean, peak: mean * peak.value };
  const exchanges = exchangesPerDay * DAYS * wanted.months;
  const awake = 1 - wanted.asleep;
  const sized = { ...wanted, load, users: wanted.users * awake, exchanges: exchanges * awake };
  const setup = setupOf(sized);
  const { stores, disks: ofAwake } = storesOf(sized, setup);
  const disks = wanted.asleep === 0 ? ofAwake : [...ofAwake, segmentsOf(wanted, exchanges)];
  return {
    setup,
    exchangesPerSecond: load,
    processes: processesOf(sized, setup),
    stores,
    disks,
    tokensPerMonth: tokensOf(wanted, exchangesPerDay * DAYS),
  };
}

/** What those take who sleep. Their rows of the ledger are a part of it that is not worth a line of its own. */
function segmentsOf({ users, dimensions, months, asleep }: Wanted, exchanges: number): Disk {
  const { base, perDimension } = BYTES_ASLEEP;
  const bytes = asleep * (exchanges * (base + perDimension * dimensions) + users * MEASURES.laneAsleep.value);
  return { name: 'segments of sleeping owners', bytes, bytesPerMonth: bytes / months };
}

interface Sized extends Wanted {
  readonly load: CapacityPlan['exchangesPerSecond'];
  /** In all the months, of those that are awake: so are its users. */
  readonly exchanges: number;
}

function setupOf(sized: Sized): Setup {
  const { load, exchanges } = sized;
  const most = (figure: { readonly value: number }): number => figure.value * utilisation.value;
  if (load.peak <= most(MEASURES.onePeak) && exchanges <= MEASURES.oneMemories.value) return 'one process';
  const bytes = bytesOf(sized, 'sqlite', 'ledger');
  if (load.peak <= most(MEASURES.hostPeak) && bytes <= MEASURES.bytesOfFile.value) return 'one host';
  return ledgersOf(sized) === 1 ? 'several hosts' : 'cells';
}

const bytesOf = (sized: Sized, store: keyof typeof BYTES, part: 'ledger' | 'index'): number =>
  bytesFor(sized, BYTES[store][part]);

const bytesFor = ({ exchanges, dimensions }: Sized, { base, perDimension }: typeof BYTES_IN_QDRANT): number =>
  exchanges * (base + perDimension * dimensions);

const coresFor = (perSecond: number, ms: number): number => (perSecond * ms) / MS / utilisation.value;

/** Whether an owner stays small enough to be compared as a whole wherever the index is. */
const indexInDatabase = ({ exchanges, users }: Sized): boolean => exchanges / users <= MEASURES.ownerInDatabase.value;

/** Of PostgreSQL, each with a cell of its own. */
function ledgersOf(sized: Sized): number {
  const cores = coresFor(sized.load.peak, MEASURES.consolidateMs.value * databaseShare.value);
  const index = indexInDatabase(sized) ? bytesOf(sized, 'postgres', 'index') : 0;
  const bytes = bytesOf(sized, 'postgres', 'ledger') + index;
  return Math.max(
    1,
    Math.ceil(cores / MEASURES.coresOfDatabase.value),
    Math.ceil(bytes / MEASURES.bytesOfDatabase.value),
  );
}

const LEAST_SHOWN = 0.1;
/** Two of each at least, so that one may be missing. */
const FEWEST = 2;
/** Calls of the chat model at a time, of a worker. */
const CONCURRENCY = 20;

function processesOf(sized: Sized, setup: Setup): readonly Part[] {
  if (setup === 'one process') return [{ name: 'standalone', count: 1, why: 'takes all of it on one core' }];
  const { load } = sized;
  const fewest = setup === 'one host' ? 1 : FEWEST;
  const part = (name: string, cores: number): Part => {
    const count = Math.max(fewest, Math.ceil(cores));
    const rounded = cores < LEAST_SHOWN ? `under ${LEAST_SHOWN}` : cores.toFixed(1);
    return {
      name,
      count,
      why: count > cores + 1 ? `${rounded} cores at the peak; ${fewest} at least` : `${rounded} cores at the peak`,
    };
  };
  const calls = load.peak * MESSAGES * askedAt(sized).calls * MEASURES.callSeconds.value;
  const computing = coresFor(load.peak, MEASURES.consolidateMs.value * (1 - databaseShare.value));
  const waiting = calls / CONCURRENCY;
  const worker = part('worker', Math.max(computing, waiting));
  return [
    part('ingest', coresFor(load.peak, MEASURES.ingestMs.value)),
    waiting > computing
      ? { ...worker, why: `${Math.ceil(calls)} calls of the model at a time, ${CONCURRENCY} each` }
      : worker,
    part('search', coresFor(load.peak * searches.value, MEASURES.searchMs.value)),
    { name: 'console', count: fewest, why: 'for people' },
    ...(setup === 'cells' ? [part('router', coresFor(load.peak * (1 + searches.value), MEASURES.routeMs.value))] : []),
  ];
}

function storesOf(sized: Sized, setup: Setup): Pick<CapacityPlan, 'stores' | 'disks'> {
  const disk = (name: string, bytes: number): Disk => ({ name, bytes, bytesPerMonth: bytes / sized.months });
  const on = (store: keyof typeof BYTES, part: 'ledger' | 'index'): number => bytesOf(sized, store, part);
  if (setup === 'one process') {
    const stores = [{ name: 'SQLite files', count: 1, why: 'ledger and index; the queue is in the process' }];
    return { stores, disks: [disk('ledger.db', on('sqlite', 'ledger')), disk('index.db', on('sqlite', 'index'))] };
  }
  const ledgers = setup === 'cells' ? ledgersOf(sized) : 1;
  const redis: Part = { name: 'Redis', count: ledgers, why: 'the queue of a ledger; nothing on disk' };
  if (setup === 'one host') {
    const file: Part = { name: 'SQLite file', count: 1, why: 'the ledger, on a volume that all programs share' };
    const stores = [
      file,
      { ...redis, why: 'the queue; nothing on disk' },
      { name: 'Qdrant', count: 1, why: 'the index' },
    ];
    return {
      stores,
      disks: [disk('ledger.db', on('sqlite', 'ledger')), disk('Qdrant', bytesFor(sized, BYTES_IN_QDRANT))],
    };
  }
  const directory: readonly Part[] = setup === 'cells' ? [DIRECTORY] : [];
  const isShared = indexInDatabase(sized);
  const database: Part = { name: 'PostgreSQL', count: ledgers, why: whyDatabases(ledgers, isShared) };
  const ledger = disk('PostgreSQL, ledger', on('postgres', 'ledger'));
  if (isShared) {
    const index = disk('PostgreSQL, index', on('postgres', 'index'));
    return { stores: [database, redis, ...directory], disks: [ledger, index] };
  }
  const qdrant: Part = { name: 'Qdrant', count: qdrantsFor(sized), why: 'the index, with 8-bit vectors in memory' };
  return {
    stores: [database, redis, qdrant, ...directory],
    disks: [ledger, disk('Qdrant', bytesFor(sized, BYTES_IN_QDRANT))],
  };
}

const DIRECTORY: Part = {
  name: 'directory of cells',
  count: 1,
  why: 'a small PostgreSQL of its own, used by all routers',
};

function whyDatabases(ledgers: number, hasIndex: boolean): string {
  const holds = hasIndex ? 'ledger and index (SLOWWAVE_INDEX=postgres)' : 'the ledger';
  return ledgers === 1 ? holds : `${holds}; each is a cell with a share of the users`;
}

function qdrantsFor({ exchanges, dimensions }: Sized): number {
  const bytes = exchanges * VECTORS * (dimensions * BYTES_OF_NUMBER + LINKS_AND_IDS);
  return Math.max(1, Math.ceil(bytes / MEASURES.memoryOfQdrant.value));
}

const askedAt = ({ gap }: Pick<Wanted, 'gap'>) => ASKED.find((one) => gap <= one.gap) ?? { calls: 0, promptTokens: 0 };

function tokensOf(wanted: Wanted, exchanges: number): CapacityPlan['tokensPerMonth'] {
  const { calls, promptTokens } = askedAt(wanted);
  const messages = exchanges * MESSAGES;
  return {
    calls: messages * calls,
    prompt: messages * promptTokens,
    completion: messages * calls * MEASURES.completionTokens.value,
    embedded: exchanges * MEASURES.embeddedTokens.value,
  };
}
