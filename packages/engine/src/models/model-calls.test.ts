import {
  echoExtract,
  fakeChat,
  keyedDecide,
  NEVER,
  newBatch,
  newMessage,
  type SummaryBench,
  summaryBench,
} from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { NewMessage } from '../ports/ledger/lanes.ts';
import { estimateTokens } from '../text/normalise.ts';
import { takeTurn } from '../turns/take-turn.ts';
import { DEFAULT_TENANT } from '../words.ts';

/** What a process does that is told nothing else. */
const DEFAULTS = {
  due: { tokens: 1_024, idleMs: 60_000, maxAgeMs: 600_000 },
  window: { maxTokens: 6_000, maxBatches: 100 },
  recallPerFact: 10,
  recentMessages: 10,
};
const SECOND = 1_000;
const BETWEEN_TURNS_MS = 20 * SECOND;
const MESSAGES = 60;

/** Every user message tells or changes a thing, and all things are near each other: there is always something to decide. */
const model = () =>
  fakeChat({
    extract_facts: echoExtract,
    decide_operations: keyedDecide((text) => text.split(':')[0] ?? text),
    refresh_summary: (_input, nth) => ({ summary: `what was said so far, ${nth}` }),
  });

/** `perPost` 2: question and answer in one POST; 1: each on its own. */
interface Trace {
  readonly perPost: 1 | 2;
  readonly userTokens: number;
  readonly assistantTokens: number;
}

describe('model calls at the default batching, 20 s between turns', () => {
  it.each<[string, Trace]>([
    ['a chat, question and answer in one post', { perPost: 2, userTokens: 30, assistantTokens: 90 }],
    ['a chat, every message a post of its own', { perPost: 1, userTokens: 30, assistantTokens: 90 }],
    ['short messages', { perPost: 1, userTokens: 15, assistantTokens: 30 }],
    ['long messages', { perPost: 1, userTokens: 50, assistantTokens: 100 }],
  ])('are at most 0.2 per message, summaries included: %s', async (_name, trace) => {
    const { perMessage, perConsolidation } = await measure(trace);
    expect(perMessage).toBeLessThanOrEqual(0.2);
    expect(perConsolidation).toBeLessThanOrEqual(2);
  });

  it('are counted, every one of them', async () => {
    const { calls, counted, refreshes } = await measure({ perPost: 2, userTokens: 30, assistantTokens: 90 });
    expect(counted).toBe(calls);
    expect(refreshes).toBeGreaterThan(0);
    expect(refreshes).toBeLessThanOrEqual(MESSAGES / 20);
  });
});

async function measure(trace: Trace) {
  const chat = model();
  const bench = await summaryBench({ chat, settings: DEFAULTS });
  await play(bench, trace);
  const called = (name: string): number => chat.calls.filter((call) => call.name === name).length;
  const { ledger } = bench.deps;
  const { results } = await ledger.thoughts.list(DEFAULT_TENANT, {}, { limit: 100, cursor: null });
  const perConsolidation = await Promise.all(results.map(async ({ id }) => (await ledger.overview.usageOf(id)).calls));
  return {
    calls: chat.calls.length,
    perMessage: chat.calls.length / MESSAGES,
    perConsolidation: Math.max(...perConsolidation),
    consolidations: results.length,
    refreshes: called('refresh_summary'),
    counted: (await ledger.overview.usage(DEFAULT_TENANT)).calls,
  };
}

/** Posts every 20 s and takes turns when they are due, until the lane rests. */
async function play(bench: SummaryBench, { perPost, ...sizes }: Trace): Promise<void> {
  const { deps, tools } = bench;
  for (let i = 0; i < MESSAGES; i += perPost) {
    const messages = Array.from({ length: perPost }, (_, j) => spoken(bench, i + j, sizes));
    const tokens = messages.reduce((sum, { content }) => sum + estimateTokens(String(content)), 0);
    await deps.ledger.batches.append(newBatch(tools, { messages, tokens, acceptedAt: tools.now() }), deps.settings.due);
    await passTime(bench, tools.now() + BETWEEN_TURNS_MS);
  }
  await bench.run();
}

/** The clock stops whenever a lane is due, so that its turn is taken then and not later. */
async function passTime({ deps, tools, settled }: SummaryBench, until: number): Promise<void> {
  for (;;) {
    const [nudge] = await deps.ledger.lanes.withWork(null, 1);
    if (nudge === undefined || nudge.dueAt > until) break;
    tools.set(Math.max(tools.now(), nudge.dueAt));
    await takeTurn(deps)(nudge, NEVER);
    await settled();
  }
  tools.set(until);
}

const TOKENS_PER_WORD = 1.25; // "talk " in the estimate
function spoken({ tools }: SummaryBench, n: number, sizes: Omit<Trace, 'perPost'>): NewMessage {
  const isUser = n % 2 === 0;
  const words = (isUser ? sizes.userTokens : sizes.assistantTokens) / TOKENS_PER_WORD;
  const content = `thing ${n % 14}: is now ${n} ${'talk '.repeat(words)}`.trim();
  return newMessage(tools, { role: isUser ? 'user' : 'assistant', content });
}
