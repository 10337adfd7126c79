import { type Config, readServiceConfig, readStandaloneConfig } from '@slowwave/adapters/config';
import { startModelServer, tempDir } from '@slowwave/testkit';
import { seededRandom } from '../chaos/random.ts';
import { fleetModel, userOf } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { conversation } from './conversation.ts';
import { mem0Model, withMem0 } from './mem0/mem0.ts';
import { consolidateInTime, type Post } from './moved-clock.ts';
import { atMost, type Comparison } from './report.ts';

/** Nobody pays for more calls than with mem0; at the gap of most chats separate processes make a tenth of them. */
const TARGET = 1;
const TARGET_OF_CHATS = 0.1;
export const CHAT_GAP_S = 20;
const GAPS_S = [2, 10, CHAT_GAP_S, 60];
/** Longer than standalone waits by default: each exchange is consolidated alone. */
export const LONG_GAP_S = 300;
const SECOND_MS = 1_000;
const DIMENSIONS = 1_024;
const SAID_AT_A_TURN = 2; // the user's message and the answer
/** Of mem0's release that decides with a second call, by its prompts; it is not measured here. */
const TWO_CALLS = { calls: 2, tokens: 3_000 };

/** What memories cost at the model. */
export const cost: Bench = {
  name: 'cost',
  what: 'Model calls and prompt tokens per message with the default settings of each setup, compared with mem0 on the same conversation.',
  flags: {
    users: { usual: '3', help: 'Users who talk at the same time.' },
    turns: { usual: '60', help: 'Turns of each: a message and its answer.' },
    add: {
      usual: 'exchange',
      help: 'What mem0 is given with one add(): an exchange (a message and its answer), or each message.',
    },
    mem0: { usual: 'yes', help: 'Whether mem0 is measured too: yes or no.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const ours: Cost[] = [];
    for (const way of WAYS) {
      for (const gap of [...GAPS_S, LONG_GAP_S]) {
        progress(`${way.name}, ${gap} s between turns`);
        ours.push(await costOf(way, gap, options));
      }
    }
    return found(options, ours, options.mem0 ? await mem0Of(options, progress) : null);
  },
};

const optionsOf = (given: Given) => ({
  users: given.number('users', { max: 1_000 }),
  turns: given.number('turns', { max: 10_000 }),
  add: given.choice('add', ['exchange', 'message']),
  mem0: given.choice('mem0', ['yes', 'no']) === 'yes',
});

type Options = ReturnType<typeof optionsOf>;

interface Way {
  readonly name: string;
  /** The builtin model costs nothing. */
  readonly isPaid: boolean;
  readonly config: (environment: Readonly<Record<string, string>>) => Config;
}

const INGEST_PORT = 7_071;
export const PROCESSES = 'separate processes';
const WAYS: readonly Way[] = [
  { name: 'standalone, builtin model', isPaid: false, config: (given) => readStandaloneConfig({}, given) },
  { name: 'standalone', isPaid: true, config: (given) => readStandaloneConfig({}, given) },
  { name: PROCESSES, isPaid: true, config: (given) => readServiceConfig(INGEST_PORT, { queue: false }, given) },
];

/** Per message. */
interface Spending {
  readonly calls: number;
  readonly tokens: number;
}

interface Cost extends Spending {
  readonly way: Way;
  readonly gap: number;
  /** Messages of one consolidation. */
  readonly together: number;
}

async function costOf(way: Way, gap: number, { users, turns }: Options): Promise<Cost> {
  const [folder, model] = await Promise.all([tempDir(), startModelServer({ script: fleetModel() })]);
  try {
    const config = way.config({
      SLOWWAVE_DATA_DIR: folder.path,
      SLOWWAVE_EMBEDDING_MODEL: 'builtin',
      ...(way.isPaid && { OPENAI_BASE_URL: model.baseUrl }),
    });
    const messages = users * turns * SAID_AT_A_TURN;
    const { calls, promptTokens, consolidations } = await consolidateInTime(config, postsOf({ users, turns, gap }));
    return { way, gap, calls: calls / messages, tokens: promptTokens / messages, together: messages / consolidations };
  } finally {
    await model.close();
    await folder.remove();
  }
}

/** Everybody lets pass between half of the gap and one and a half of it. */
export function postsOf({ users, turns, gap }: { users: number; turns: number; gap: number }): readonly Post[] {
  const posts = Array.from({ length: users }, (_, n) => {
    const random = seededRandom(`gaps of ${n}`);
    let at = 0;
    return conversation(n, turns).map((messages) => {
      at += random.between(gap * (SECOND_MS / 2), gap * (SECOND_MS + SECOND_MS / 2));
      return { at, user: userOf(n), messages };
    });
  });
  return posts.flat().sort((a, b) => a.at - b.at);
}

/** Of fewer users: what an add() asks does not depend on how many there are. */
const MEM0_USERS = 2;

async function mem0Of({ turns, add }: Options, progress: Progress): Promise<Spending> {
  const model = await startModelServer({ script: mem0Model });
  try {
    return await withMem0({ modelUrl: model.baseUrl, dimensions: DIMENSIONS }, async (mem0) => {
      for (let user = 0; user < MEM0_USERS; user += 1) {
        for (const [turn, said] of conversation(user, turns).entries()) {
          progress(`gave mem0 ${turn} of ${turns} turns of user ${user + 1} of ${MEM0_USERS}`);
          const adds = add === 'exchange' ? [said] : said.map((message) => [message]);
          for (const messages of adds) await mem0.add(userOf(user), messages);
        }
      }
      const messages = MEM0_USERS * turns * SAID_AT_A_TURN;
      const tokens = model.calls.reduce((sum, call) => sum + call.tokens.prompt, 0);
      return { calls: model.calls.length / messages, tokens: tokens / messages };
    });
  } finally {
    await model.close();
  }
}

function found({ users, turns, add }: Options, ours: readonly Cost[], mem0: Spending | null) {
  const perAdd = add === 'exchange' ? SAID_AT_A_TURN : 1;
  const twoCalls = { calls: TWO_CALLS.calls / perAdd, tokens: TWO_CALLS.tokens / perAdd };
  const paid = ours.filter(({ way, gap }) => way.isPaid && gap !== LONG_GAP_S);
  return {
    title: `cost: ${users} users, ${turns} turns each`,
    figures: [...ours.flatMap(figuresOf), ...(mem0 === null ? [] : spendingOf('mem0', mem0))],
    verdicts: [],
    comparisons: [
      ...(mem0 === null ? [] : paid.flatMap((one) => against(one, { name: 'mem0', ...mem0 }))),
      ...paid.filter(isOfChats).flatMap((one) => against(one, { name: "mem0's release with two calls", ...twoCalls })),
    ],
    remarks: [
      'The clock is moved from one event to the next, and models answer in no time. Gaps are drawn between half and one and a half of what is said; all settings are the defaults.',
      `${LONG_GAP_S} s is longer than standalone waits for more to be said: an exchange is consolidated alone, with a call that extracts and one that decides. It has no target.`,
      `mem0 is given ${add === 'exchange' ? 'a message and its answer' : 'each message'} with one add(), whatever the gap. Tokens of both are counted as a quarter of the characters.`,
      `The release with two calls is not measured here: ${TWO_CALLS.calls} calls and about ${TWO_CALLS.tokens.toLocaleString('en')} tokens of prompts an add(). The builtin model costs nothing.`,
    ],
  };
}

const titleOf = ({ way, gap }: Cost): string => `${way.name}, ${gap} s`;

const isOfChats = ({ way, gap }: Cost): boolean => way.name === PROCESSES && gap === CHAT_GAP_S;

const figuresOf = (one: Cost) => [
  ...spendingOf(titleOf(one), one),
  { what: `${titleOf(one)}: messages per consolidation`, value: one.together, unit: '' },
];

const spendingOf = (name: string, { calls, tokens }: Spending) => [
  { what: `${name}: calls per message`, value: calls, unit: '' },
  { what: `${name}: prompt tokens per message`, value: tokens, unit: '' },
];

function against(ours: Cost, { name, ...theirs }: Spending & { readonly name: string }): Comparison[] {
  const target = isOfChats(ours) ? TARGET_OF_CHATS : TARGET;
  const one = (what: string, unit: string, part: 'calls' | 'tokens'): Comparison =>
    atMost(target, {
      what,
      unit,
      ours: { name: titleOf(ours), value: ours[part] },
      yardstick: { name, value: theirs[part] },
    });
  return [one('calls per message', 'calls', 'calls'), one('prompt tokens per message', 'tokens', 'tokens')];
}
