import { setTimeout as sleep } from 'node:timers/promises';
import { answeredSums, billOf, type Kill, startModelServer, withFaults } from '@slowwave/testkit';
import { expect, test } from 'vitest';
import { apiAt } from '../src/api.ts';
import { killInTheMiddle } from '../src/fleet/crash.ts';
import { startFleet } from '../src/fleet/fleet.ts';
import { postLoad } from '../src/fleet/load.ts';
import { countsOf, untilQuiet } from '../src/fleet/quiet.ts';
import { fleetModel } from '../src/fleet/said.ts';

const USERS = 40;
const BATCHES = 5;
const QUIET_WITHIN_MS = 180_000;
/** One call in ten fails, in every way that leaves a bill in doubt, and in some that do not. */
const RATES = { rate_limited: 0.03, server_error: 0.02, dropped: 0.02, cut_off: 0.02, timeout: 0.01 };

interface Row {
  readonly calls: number;
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly unanswered: Omit<Row, 'unanswered'>;
}

test.each(['sqlite', 'postgres'] as const)(
  'four workers on Redis, two of which are killed, with one failing call in ten: the ledger in %s has the bill of the provider',
  async (ledger) => {
    const provider = await startModelServer({
      script: withFaults(fleetModel(), { seed: 11, rates: RATES }),
      latencyMs: 100,
    });
    const settings = {
      OPENAI_BASE_URL: provider.baseUrl,
      SLOWWAVE_BATCH_IDLE_MS: '300',
      SLOWWAVE_TAKE_OVER_MS: '5000',
      SLOWWAVE_MODEL_TIMEOUT_MS: '2000',
      SLOWWAVE_RETRY_DELAY_MS: '200',
      SLOWWAVE_CONCURRENCY: '4',
    };
    const fleet = await startFleet({ ledger, workers: 4, settings });
    try {
      const kills: Kill[] = [];
      const crashes: Promise<void>[] = [];
      const kill = async (n: number): Promise<void> => {
        await killInTheMiddle(fleet, provider, n);
        kills.push({ at: Date.now(), apiKey: fleet.workers[n] ?? '' });
        await fleet.restartWorker(n);
      };
      const third = Math.floor((USERS * BATCHES) / 3);
      const ingest = apiAt(fleet.ingest, null);
      await postLoad(ingest, {
        ...{ users: USERS, batches: BATCHES, connections: 8 },
        onPosted: (count) => {
          if (count % third === 0 && crashes.length < 2) crashes.push(kill(crashes.length));
        },
      });
      await Promise.all(crashes);
      const search = apiAt(fleet.search, null);
      await untilQuiet(search, { withinMs: QUIET_WITHIN_MS });
      expect(await countsOf(search)).toMatchObject({ accepted: USERS * BATCHES, parked: 0, gap: 0 });
      await sleep(1_000); // what was answered may still be on its way into the ledger

      const [row] = await apiAt(fleet.console, null).all<Row>('/v1/usage?group_by=model');
      const { calls = 0, prompt_tokens: prompt = 0, completion_tokens: completion = 0, unanswered } = row ?? {};
      expect(kills).toHaveLength(2);
      expect(answeredSums(provider.calls, kills)).toContainEqual({ calls, prompt, completion });
      expect(unanswered?.calls).toBeGreaterThan(0);
      const { atMost } = billOf(provider.calls);
      expect(atMost.prompt).toBeGreaterThanOrEqual(prompt);
      expect(atMost.prompt).toBeLessThanOrEqual(prompt + (unanswered?.prompt_tokens ?? 0));
      expect(atMost.completion).toBeGreaterThanOrEqual(completion);
      expect(atMost.completion).toBeLessThanOrEqual(completion + (unanswered?.completion_tokens ?? 0));
    } finally {
      await fleet.close();
      await provider.close();
    }
  },
  QUIET_WITHIN_MS + 120_000,
);
