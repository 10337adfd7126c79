import { readServiceConfig } from '@slowwave/adapters/config';
import { DEFAULT_SETTINGS } from '@slowwave/engine';
import { startModelServer, tempDir } from '@slowwave/testkit';
import { fleetModel } from '../fleet/said.ts';
import type { Bench } from './bench.ts';
import { CHAT_GAP_S, PROCESSES, postsOf } from './cost.ts';
import { consolidateInTime, type Post } from './moved-clock.ts';
import { atMost, type Found } from './report.ts';

/** What is left of a budget of tokens for nights by default. */
const TARGET = 0.15;
const QUIET_NIGHTS = 2;
const DAY_MS = 86_400_000;
const INGEST_PORT = 7_071;
const SAID_AT_A_TURN = 2;

/** What nights cost at the model beside what they look at. */
export const sleep: Bench = {
  name: 'sleep',
  what: 'Tokens used by nights compared with the consolidations before them, with 20 s between turns; and tokens used by nights without news.',
  draws: false,
  flags: {
    users: { usual: '3', help: 'Users who talk at the same time.' },
    turns: { usual: '60', help: 'Turns of each and day: a message and its answer.' },
    days: { usual: '3', help: 'Days, with a night after each.' },
    patterns: { usual: 'no', help: 'Whether nights also draw conclusions: yes or no.' },
  },
  run: async (given, progress) => {
    const [users, turns] = [given.number('users', { max: 1_000 }), given.number('turns', { max: 10_000 })];
    const days = given.number('days', { min: 1, max: 365 });
    const patterns = given.choice('patterns', ['no', 'yes']) === 'yes';
    progress(`${users} users, ${days} days of ${turns} turns`);
    const [folder, model] = await Promise.all([tempDir(), startModelServer({ script: fleetModel() })]);
    try {
      const environment = {
        SLOWWAVE_DATA_DIR: folder.path,
        SLOWWAVE_EMBEDDING_MODEL: 'builtin',
        OPENAI_BASE_URL: model.baseUrl,
      };
      const config = readServiceConfig(INGEST_PORT, { queue: false }, environment);
      const acts = { ...DEFAULT_SETTINGS.sleep.acts, patterns };
      const spent = await consolidateInTime(config, postsOfDays({ users, turns, days }), { acts, quiet: QUIET_NIGHTS });
      return found({ users, turns, days }, spent);
    } finally {
      await model.close();
      await folder.remove();
    }
  },
};

interface Trace {
  readonly users: number;
  readonly turns: number;
  readonly days: number;
}

/** One long conversation of each, cut into days. */
function postsOfDays({ users, turns, days }: Trace): readonly Post[] {
  const posts = postsOf({ users, turns: turns * days, gap: CHAT_GAP_S });
  const told = new Map<string, number>();
  const dated = posts.map((post) => {
    const nth = told.get(post.user) ?? 0;
    told.set(post.user, nth + 1);
    return { ...post, at: post.at + Math.floor(nth / turns) * DAY_MS };
  });
  return dated.sort((a, b) => a.at - b.at);
}

function found({ users, turns, days }: Trace, spent: Awaited<ReturnType<typeof consolidateInTime>>): Found {
  const nights = spent.nights.slice(0, -QUIET_NIGHTS);
  const quiet = spent.nights.slice(-QUIET_NIGHTS);
  const sleep = nights.reduce((sum, { tokens }) => sum + tokens, 0);
  const all = spent.promptTokens + spent.completionTokens;
  const consolidations = all - spent.nights.reduce((sum, { tokens }) => sum + tokens, 0);
  const messages = users * turns * days * SAID_AT_A_TURN;
  const calls = quiet.reduce((sum, night) => sum + night.calls, 0);
  return {
    title: `sleep: ${users} users, ${days} days of ${turns} turns each, ${CHAT_GAP_S} s between turns, ${PROCESSES}`,
    figures: [
      { what: 'consolidation: tokens per message', value: consolidations / messages, unit: '' },
      ...nights.map((night, i) => ({
        what: `night ${i + 1}: tokens`,
        value: night.tokens,
        unit: `in ${night.calls} calls`,
      })),
      { what: 'nights: share of the tokens of consolidation', value: (100 * sleep) / consolidations, unit: '%' },
    ],
    verdicts: [
      {
        what: `calls of ${QUIET_NIGHTS} nights without news`,
        reached: String(calls),
        target: '0',
        passed: calls === 0,
        misses: [],
      },
    ],
    comparisons: [
      atMost(TARGET, {
        what: 'tokens',
        unit: 'tokens',
        ours: { name: 'nights', value: sleep },
        yardstick: { name: 'consolidation', value: consolidations },
      }),
    ],
    remarks: [
      'The clock is moved from one event to the next, and models answer in no time. All settings are the defaults, with nights on. Every message becomes a memory.',
    ],
  };
}
