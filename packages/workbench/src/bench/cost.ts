import { setTimeout as sleep } from 'node:timers/promises';
import { type ModelServer, type RecordedCall, startModelServer } from '@slowwave/testkit';
import { apiAt } from '../api.ts';
import { untilQuiet } from '../fleet/quiet.ts';
import { fleetModel, userOf } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import { conversation } from './conversation.ts';
import { mem0Model, withMem0 } from './mem0/mem0.ts';
import { atMost, type Comparison } from './report.ts';
import { withFleet } from './with-fleet.ts';

const TARGET = 0.1;
const SECOND_MS = 1_000;
const WITHIN_MS = 300_000;
const DIMENSIONS = 1_024;
const SAID_AT_A_TURN = 2; // the user's message and the answer
/** How long a batch waits by default: for silence, and at the most. */
const IDLE_MS = 60_000;
const MAX_AGE_MS = 600_000;
/** Of mem0's release that decides with a second call, by its prompts; it is not measured here. */
const TWO_CALLS = { calls: 2, tokens: 3_000 };

/** What memories cost at the model. */
export const cost: Bench = {
  name: 'cost',
  what: 'Calls of the model and tokens of prompts per message, at the default settings, against mem0 with the same conversation.',
  flags: {
    users: { usual: '20', help: 'Users who talk at the same time.' },
    turns: { usual: '60', help: 'Turns of each: a message and its answer.' },
    pause: { usual: '20', help: 'Seconds between two turns of a user.' },
    faster: { usual: '50', help: 'How many times faster than in life everything goes, waits of batches too.' },
    add: {
      usual: 'exchange',
      help: 'What mem0 is given with one add(): an exchange (a message and its answer), or each message.',
    },
    mem0: { usual: 'yes', help: 'Whether mem0 is measured too: yes or no.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const ours = await oursOf(options, progress);
    const mem0 = options.mem0 ? await mem0Of(options, progress) : null;
    return found(options, ours, mem0);
  },
};

const optionsOf = (given: Given) => ({
  users: given.number('users', { max: 10_000 }),
  turns: given.number('turns', { max: 10_000 }),
  pause: given.number('pause', { max: 3_600 }),
  faster: given.number('faster', { max: 1_000 }),
  add: given.choice('add', ['exchange', 'message']),
  mem0: given.choice('mem0', ['yes', 'no']) === 'yes',
});

type Options = ReturnType<typeof optionsOf>;

/** Per message. */
interface Cost {
  readonly calls: number;
  readonly tokens: number;
  /** How often each kind of call was made. */
  readonly kinds: string;
}

async function oursOf({ users, turns, pause, faster }: Options, progress: Progress): Promise<Cost> {
  const settings = {
    SLOWWAVE_BATCH_IDLE_MS: String(Math.round(IDLE_MS / faster)),
    SLOWWAVE_BATCH_MAX_AGE_MS: String(Math.round(MAX_AGE_MS / faster)),
  };
  const fleet = { ledger: 'sqlite', workers: 1, settings } as const;
  return withFleet({ model: { script: fleetModel() }, fleet }, async ({ running, model }) => {
    const api = apiAt(running.ingest, null);
    const began = performance.now();
    for (let turn = 0; turn < turns; turn += 1) {
      progress(`said ${turn} of ${turns} turns`);
      const dueAt = began + (turn * pause * SECOND_MS) / faster;
      await sleep(Math.max(0, dueAt - performance.now()));
      const posts = Array.from({ length: users }, (_, user) => {
        const messages = conversation(user, turns)[turn];
        return api.post('/v1/batches', { user_id: userOf(user), messages });
      });
      await Promise.all(posts);
    }
    await untilQuiet(apiAt(running.search, null), { withinMs: WITHIN_MS });
    return perMessage(model, users * turns * SAID_AT_A_TURN);
  });
}

/** Of fewer users: what an add() asks does not depend on how many there are. */
const MEM0_USERS = 2;

async function mem0Of({ turns, add }: Options, progress: Progress): Promise<Cost> {
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
      return perMessage(model, MEM0_USERS * turns * SAID_AT_A_TURN);
    });
  } finally {
    await model.close();
  }
}

function perMessage({ calls }: ModelServer, messages: number): Cost {
  const tokens = calls.reduce((sum, call) => sum + call.tokens.prompt, 0);
  return { calls: calls.length / messages, tokens: tokens / messages, kinds: kindsIn(calls) };
}

const kindsIn = (calls: readonly RecordedCall[]): string =>
  Object.entries(Object.groupBy(calls, ({ name }) => name))
    .map(([name, all]) => `${all?.length} ${name}`)
    .join(', ');

function found({ users, turns, pause, faster, add }: Options, ours: Cost, mem0: Cost | null) {
  const perAdd = add === 'exchange' ? SAID_AT_A_TURN : 1;
  const twoCalls = { calls: TWO_CALLS.calls / perAdd, tokens: TWO_CALLS.tokens / perAdd };
  return {
    title: `cost: ${users} users, ${turns} turns each, ${pause} s between them, ${faster} times faster than in life`,
    figures: [
      { what: 'calls per message', value: ours.calls, unit: '' },
      { what: 'prompt tokens per message', value: ours.tokens, unit: '' },
      ...(mem0 === null ? [] : [{ what: "mem0's calls per message", value: mem0.calls, unit: '' }]),
      ...(mem0 === null ? [] : [{ what: "mem0's prompt tokens per message", value: mem0.tokens, unit: '' }]),
    ],
    verdicts: [],
    comparisons: [
      ...(mem0 === null ? [] : against(ours, { name: 'mem0', ...mem0 })),
      ...against(ours, { name: "mem0's release with two calls", ...twoCalls }),
    ],
    remarks: [
      `Calls: ${ours.kinds}. A batch waits for 1,024 tokens, 60 s of silence or 10 minutes, as is the default.`,
      `mem0 is given ${add === 'exchange' ? 'a message and its answer' : 'each message'} with one add(). Tokens of both are counted as a quarter of the characters.`,
      `The release with two calls is not measured here: ${TWO_CALLS.calls} calls and about ${TWO_CALLS.tokens.toLocaleString('en')} tokens of prompts an add().`,
    ],
  };
}

function against(
  ours: Cost,
  { name, ...theirs }: Pick<Cost, 'calls' | 'tokens'> & { readonly name: string },
): Comparison[] {
  const one = (what: string, unit: string, part: 'calls' | 'tokens'): Comparison =>
    atMost(TARGET, {
      what,
      unit,
      ours: { name: 'Slowwave', value: ours[part] },
      yardstick: { name, value: theirs[part] },
    });
  return [one('calls per message', 'calls', 'calls'), one('prompt tokens per message', 'tokens', 'tokens')];
}
