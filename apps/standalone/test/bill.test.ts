import {
  answeredSums,
  answers,
  billOf,
  echoExtractor,
  type Fault,
  keyedDecider,
  onOneDay,
  spoiled,
  startModelServer,
  withFaults,
} from '@slowwave/testkit';
import { expect, it, vi } from 'vitest';
import { done, get, post, quiet, said } from './client.ts';
import { standalone } from './setups.ts';

const TIMEOUT_MS = 180_000;
const USERS = 12;
const EXCHANGES = 3;
const MODEL_MS = 30;

/** One call in ten goes wrong, in every way that leaves a bill in doubt, and in some that do not. */
const RATES = { rate_limited: 0.03, server_error: 0.02, dropped: 0.02, cut_off: 0.02, timeout: 0.01 };

interface Row {
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

const sumsOf = ({ calls, prompt_tokens: prompt, completion_tokens: completion }: Row) => ({
  calls,
  prompt,
  completion,
});

it('what was answered is the provider’s bill to the token, and the bill lies between the sums without and with the unanswered', {
  timeout: TIMEOUT_MS,
}, async ({ onTestFinished }) => {
  await onOneDay(60_000);
  const script = answers({
    extract_facts: echoExtractor(),
    decide_operations: keyedDecider((text) => text.split(':')[0] ?? null),
    refresh_summary: () => ({ summary: 'what was said' }),
    are_you_there: () => ({ there: true }),
  });
  const faulty = withFaults(script, { seed: 7, rates: RATES });
  // Which questions go wrong depends on their texts, and these have the time in them: two after the kill are sure.
  const sure: Fault[] = [];
  const provider = await startModelServer({
    script: (call) => {
      const fault = call.name === 'extract_facts' ? sure.pop() : undefined;
      return fault === undefined ? faulty(call) : spoiled(fault, '');
    },
    latencyMs: MODEL_MS,
  });
  onTestFinished(() => provider.close());
  const setup = await standalone({
    OPENAI_BASE_URL: provider.baseUrl,
    OPENAI_API_KEY: 'a-key',
    SLOWWAVE_CHAT_MODEL: 'scripted',
    SLOWWAVE_EMBEDDING_MODEL: 'builtin',
    SLOWWAVE_MODEL_TIMEOUT_MS: '4000', // an answer that a busy machine brings later would be the provider's alone
    SLOWWAVE_CHAT_TRY: 'on',
  });
  onTestFinished(() => setup.close());
  const talk = async (round: number): Promise<void> => {
    for (let user = 0; user < USERS; user += 1)
      await done(post(`${setup.ingest}/v1/batches`, { ...said(`user ${user}`, `home: town ${round}`), flush: true }));
  };
  await talk(0);
  await expect.poll(() => provider.calls.length).toBeGreaterThan(USERS / 2);
  const killed = { at: Date.now(), inDoubtMs: 2_000 };
  await setup.crash();
  sure.push('dropped', 'server_error');
  await setup.start();
  for (let round = 1; round < EXCHANGES; round += 1) await talk(round);
  await quiet(setup.ingest, TIMEOUT_MS);
  const used = async () => (await get(`${setup.console}/v1/usage?group_by=day`)).body.results[0];
  // What was answered may still be on its way into the ledger: a probe counts a moment after its answer. What was answered to
  // the process that was killed may have come too late to be written down: then it is an unanswered call.
  await vi.waitFor(async () => expect(answeredSums(provider.calls, [killed])).toContainEqual(sumsOf(await used())), {
    timeout: 50_000,
  });
  const row = await used();
  const { answered, atMost } = billOf(provider.calls);
  expect(answered.calls).toBeGreaterThan(USERS * EXCHANGES);
  expect(row.unanswered.calls, 'some were').toBeGreaterThan(0);
  for (const part of ['prompt', 'completion'] as const) {
    expect(atMost[part]).toBeGreaterThanOrEqual(row[`${part}_tokens`]);
    expect(atMost[part]).toBeLessThanOrEqual(row[`${part}_tokens`] + row.unanswered[`${part}_tokens`]);
  }
  expect(row.refused_calls).toBeGreaterThan(0);
  // One that came to the process that was killed is not counted.
  expect(row.refused_calls).toBeLessThanOrEqual(provider.calls.filter(({ status }) => status >= 400).length);
  const stats = (await get(`${setup.search}/v1/stats`)).body.usage;
  expect(stats.prompt_tokens).toBe(row.prompt_tokens + row.unanswered.prompt_tokens);
});
