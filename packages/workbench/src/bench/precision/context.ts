import { o200kTokenizer } from '@slowwave/adapters/tokens';
import { startOwnServer } from '@slowwave/testkit';
import { type Api, apiAt, each } from '../../api.ts';
import { seededRandom } from '../../chaos/random.ts';
import { untilQuiet } from '../../fleet/quiet.ts';
import type { Bench, Given, Progress } from '../bench.ts';
import type { Found } from '../report.ts';
import { sayLives } from './fill.ts';
import { drawLife, type SaidMemory } from './life.ts';
import { drawQuestions, type Question } from './questions.ts';
import { WORLDS } from './world.ts';

const TURNS = 20;
/** Less of a budget is a short block, which is read quickly with or without a cache. */
const USED_LEAST = 0.4;
const TARGET = 0.8;

/** How much of what a conversation is shown begins the next prompt, too. */
export const context: Bench = {
  name: 'context',
  what: 'How much of each POST /v1/context response in a conversation is also the beginning of the next one, so that a prompt cache helps, and how much of it answers the question.',
  draws: false,
  flags: {
    seed: { usual: '2', help: 'Seed of the generated users.' },
    users: { usual: '20', help: `Users, each with a conversation of ${TURNS} turns.` },
    tokens: { usual: '400', help: 'The budget of each context.' },
    profile: {
      usual: '6',
      help: 'Facts of each user that are pinned, so that they are in every context; 0: no profile.',
    },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const server = await startOwnServer({ SLOWWAVE_CHAT_MODEL: 'builtin', SLOWWAVE_EMBEDDING_MODEL: 'builtin' });
    try {
      return await measure(apiAt(server.url, null), options, progress);
    } finally {
      await server.close();
    }
  },
};

const optionsOf = (given: Given) => ({
  seed: given.number('seed'),
  users: given.number('users', { max: 1_000 }),
  tokens: given.number('tokens', { min: 100, max: 16_000 }),
  profile: given.number('profile', { min: 0, max: 20 }),
});

type Options = ReturnType<typeof optionsOf>;

/** One turn: what it was shown, and what would answer the question. */
interface Turn {
  readonly text: string;
  readonly tokens: number;
  /** Without the profile, which is not there to answer. */
  readonly shown: readonly string[];
  readonly relevant: ReadonlySet<string>;
}

async function measure(api: Api, options: Options, progress: Progress): Promise<Found> {
  const { seed, users, tokens, profile } = options;
  progress('saying the lives');
  const lives = Array.from({ length: users }, (_, n) => {
    const random = seededRandom(`context ${seed} ${n}`);
    return { life: drawLife(`c${seed}-${n}`, random.fork('life'), WORLDS.first), random };
  });
  const ids = await sayLives(
    api,
    lives.map(({ life, random }) => ({ life, random: random.fork('sittings') })),
  );
  await each(lives, ({ life }) => pinProfile(api, { memories: life.memories, ids, profile }));
  progress('asking');
  const conversations = async (conversation: string | undefined) =>
    each(lives, ({ life, random }) => {
      const answerable = drawQuestions(life, random.fork('questions')).filter(({ relevant }) => relevant.length > 0);
      const questions = random.fork('order').shuffled(answerable).slice(0, TURNS);
      return converse(api, questions, { user: life.user, conversation, tokens, ids });
    });
  const stable = figuresOf(await conversations('chat'), tokens);
  const anew = figuresOf(await conversations(undefined), tokens);
  const rows = [
    ...Object.entries(stable).map(([what, value]) => ({ what: `in a conversation: ${what}`, value, unit: '' })),
    ...Object.entries(anew).map(([what, value]) => ({ what: `each anew: ${what}`, value, unit: '' })),
  ];
  return {
    title: `context: ${users} conversations of ${TURNS} turns with ${tokens} tokens each, ${profile} facts pinned`,
    figures: rows,
    verdicts: [
      {
        what: 'tokens that begin the next context, too',
        reached: stable[SHARED].toFixed(2),
        target: `at least ${TARGET.toFixed(2)}`,
        passed: stable[SHARED] >= TARGET,
        misses: [],
      },
    ],
    remarks: [
      `Tokens of contexts that use at least ${USED_LEAST * 100}% of their budget. Precision is what answers the question of the turn ÷ the memories shown, without the profile.`,
    ],
  };
}

interface Pinning {
  readonly memories: readonly SaidMemory[];
  readonly ids: ReadonlyMap<SaidMemory, string>;
  readonly profile: number;
}

/** Facts that are in every context, as a few are of everybody. */
async function pinProfile(api: Api, { memories, ids, profile }: Pinning): Promise<void> {
  const own = memories.filter(({ person, place }) => person.relation === null && Object.keys(place).length === 0);
  for (const memory of own.slice(0, profile)) await api.patch(`/v1/memories/${ids.get(memory)}`, { pinned: true });
  await untilQuiet(api, { withinMs: 600_000 });
}

interface Conversing {
  readonly user: string;
  /** undefined: each context is made anew. */
  readonly conversation: string | undefined;
  readonly tokens: number;
  readonly ids: ReadonlyMap<SaidMemory, string>;
}

async function converse(
  api: Api,
  questions: readonly Question[],
  { user, conversation, tokens, ids }: Conversing,
): Promise<readonly Turn[]> {
  const turns: Turn[] = [];
  for (const question of questions) {
    const body = { user_id: user, query: question.text, max_tokens: tokens, conversation_id: conversation };
    const { text, tokens: used, citations } = await api.post<Context>('/v1/context', body);
    const profile = new Set(idsIn(citations, 'profile'));
    const relevant = question.relevant.flatMap((memory) => ids.get(memory) ?? []).filter((id) => !profile.has(id));
    turns.push({ text, tokens: used, shown: idsIn(citations, 'memories'), relevant: new Set(relevant) });
  }
  return turns;
}

interface Context {
  readonly text: string;
  readonly tokens: number;
  readonly citations: readonly { readonly section: string; readonly memory_id: string }[];
}

const idsIn = (citations: Context['citations'], wanted: string): readonly string[] =>
  citations.filter(({ section }) => section === wanted).map(({ memory_id }) => memory_id);

const SHARED = 'tokens that begin the next one, too';

function figuresOf(conversations: readonly (readonly Turn[])[], budget: number) {
  const pairs = conversations
    .flatMap((turns) => turns.slice(1).map((after, i) => ({ before: turns[i] ?? after, after })))
    .filter(({ before }) => before.tokens >= USED_LEAST * budget);
  const turns = conversations.flat();
  const shown = sum(turns.map((turn) => turn.shown.length));
  const answering = sum(turns.map((turn) => turn.shown.filter((id) => turn.relevant.has(id)).length));
  const news = conversations.flatMap((of) => of.map((turn, i) => isNews(turn, of.slice(0, i))));
  return {
    [SHARED]: sum(pairs.map(({ before, after }) => sharedTokens(before.text, after.text))) / sum(pairs.map(tokensOf)),
    'contexts that use enough of the budget': pairs.length / (turns.length - conversations.length),
    'part of the budget that is used': sum(turns.map(({ tokens }) => tokens)) / (budget * turns.length),
    'turns that show what answers and was not shown before': sum(news) / news.length,
    'memories shown a turn': shown / turns.length,
    precision: answering / shown,
    recall: answering / sum(turns.map(({ relevant }) => relevant.size)),
  };
}

const tokensOf = ({ before }: { readonly before: Turn }): number => before.tokens;

const isNews = ({ shown, relevant }: Turn, before: readonly Turn[]): number =>
  Number(shown.some((id) => relevant.has(id) && !before.some((turn) => turn.shown.includes(id))));

/** What a cache knows of the second one once the first was read: a prompt is known up to the first token that differs. */
function sharedTokens(before: string, after: string): number {
  let shared = 0;
  while (shared < before.length && before[shared] === after[shared]) shared += 1;
  return o200kTokenizer.count(before.slice(0, shared));
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);
