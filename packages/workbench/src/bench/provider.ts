import { type ModelServer, type Strict, strict } from '@slowwave/testkit';
import { apiAt, each } from '../api.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { untilQuiet } from '../fleet/quiet.ts';
import { fleetModel, textOf, userOf } from '../fleet/said.ts';
import type { Bench, Given, Progress } from './bench.ts';
import type { Verdict } from './report.ts';
import { withFleet } from './with-fleet.ts';

const MINUTE_MS = 60_000;
const WITHIN_MS = 3_600_000;
const LATENCY_MS = 300;

/** Whether workers together stay within what a provider allows. */
export const provider: Bench = {
  name: 'provider',
  what: 'Whether several workers stay within what a strict provider allows a minute, use the whole of it, and lose no attempt.',
  draws: false,
  flags: {
    requests: { usual: '60', help: 'Requests the provider allows in any 60 seconds.' },
    tokens: { usual: '20000', help: 'Tokens it allows in any 60 seconds.' },
    users: { usual: '40', help: 'Users, each with one batch.' },
    workers: { usual: '4', help: 'Processes that consolidate.' },
    told: { usual: 'yes', help: 'Whether the workers know the limits (yes), or only see refusals (no).' },
    ledger: { usual: 'sqlite', help: 'Where the ledger is: sqlite or postgres.' },
  },
  run: async (given, progress) => {
    const options = optionsOf(given);
    const { requests, tokens } = options;
    const limits = { requestsPerMinute: requests, tokensPerMinute: tokens };
    const held = strict(fleetModel(), limits);
    const known = options.told ? { SLOWWAVE_RPM: String(requests), SLOWWAVE_TPM: String(tokens) } : {};
    // One try only: a single refusal that counted would park its batch.
    const settings = { SLOWWAVE_MAX_ATTEMPTS: '1', ...known };
    const { ledger, workers } = options;
    const model = { script: held.script, latencyMs: LATENCY_MS };
    return withFleet({ model, fleet: { ledger, workers, settings } }, (started) =>
      measure({ options, ...started, held }, progress),
    );
  },
};

const optionsOf = (given: Given) => ({
  requests: given.number('requests'),
  tokens: given.number('tokens', { max: 1_000_000_000 }),
  users: given.number('users', { max: 100_000 }),
  workers: given.number('workers', { max: 50 }),
  told: given.choice('told', ['yes', 'no']) === 'yes',
  ledger: given.choice('ledger', ['sqlite', 'postgres']),
});

interface Stage {
  readonly options: ReturnType<typeof optionsOf>;
  readonly running: Fleet;
  readonly model: ModelServer;
  readonly held: Strict;
}

async function measure({ options, running, model, held }: Stage, progress: Progress) {
  const { users, workers, requests, tokens, told } = options;
  const ingest = apiAt(running.ingest, null);
  const ids = await each(
    Array.from({ length: users }, (_, user) => user),
    async (user) => {
      // Two levels are near each other, so that the model decides about them.
      const messages = [0, 1].map((batch) => ({ role: 'user', content: textOf(user, batch) }));
      const body = { user_id: userOf(user), messages, flush: true };
      return (await ingest.post<{ batch_id: string }>('/v1/batches', body)).batch_id;
    },
  );
  await untilQuiet(apiAt(running.search, null), {
    withinMs: WITHIN_MS,
    onCounts: ({ consolidated }) => progress(`consolidated ${consolidated} of ${users} batches`),
  });
  const batches = await each(ids, (id) => ingest.get<{ state: string; attempts: number }>(`/v1/batches/${id}`));
  const calls = model.calls.filter(({ status }) => status === 200);
  const [first, last] = [calls[0]?.at ?? 0, calls.at(-1)?.at ?? 0];
  // The last minute may have had less to do than it could.
  const minutes = Math.max(1, Math.floor((last - first) / MINUTE_MS));
  const within = calls.filter(({ at }) => at < first + minutes * MINUTE_MS);
  const spent = within.reduce((sum, call) => sum + call.tokens.prompt + call.tokens.completion, 0);
  const peak = held.peak();
  const tries = batches.reduce((sum, { attempts }) => sum + attempts, 0);
  const done = batches.filter(({ state }) => state === 'consolidated').length;
  return {
    title: `provider: ${requests} requests and ${tokens} tokens a minute, ${workers} workers that ${told ? 'know' : 'do not know'} it, ${users} users, on ${running.place}`,
    figures: [
      { what: 'calls answered', value: calls.length, unit: '' },
      { what: 'calls refused (429)', value: held.refused(), unit: '' },
      { what: 'most requests in any 60 s', value: peak.requests, unit: `of ${requests}` },
      { what: 'most tokens in any 60 s', value: peak.tokens, unit: `of ${tokens}` },
      {
        what: `use of the tokens in the first ${minutes} minutes`,
        value: (100 * spent) / (tokens * minutes),
        unit: '%',
      },
      {
        what: `use of the requests in the first ${minutes} minutes`,
        value: (100 * within.length) / (requests * minutes),
        unit: '%',
      },
      { what: 'took', value: (last - first) / 1_000, unit: 's' },
    ],
    verdicts: [
      ...(told ? [nothing('the limits are never exceeded', held.refused(), 'calls refused')] : []),
      nothing('all work is done', users - done, 'batches missing'),
      nothing('no try is lost to the limits', tries, 'tries'),
    ],
    remarks: [],
  };
}

const nothing = (what: string, count: number, of: string): Verdict => ({
  what,
  reached: `${count} ${of}`,
  target: '0',
  passed: count === 0,
  misses: [],
});
