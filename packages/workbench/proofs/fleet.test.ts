import { type ModelServer, startModelServer } from '@slowwave/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { apiAt } from '../src/api.ts';
import { askedAgain, checkCalls } from '../src/fleet/calls.ts';
import { checkFleet } from '../src/fleet/checks.ts';
import { killInTheMiddle } from '../src/fleet/crash.ts';
import { gatherFleetEvidence } from '../src/fleet/evidence.ts';
import { type Fleet, startFleet } from '../src/fleet/fleet.ts';
import { postLoad } from '../src/fleet/load.ts';
import { untilQuiet } from '../src/fleet/quiet.ts';
import { fleetModel } from '../src/fleet/said.ts';

const USERS = 30;
const BATCHES = 5;
const QUIET_WITHIN_MS = 120_000;
/** Long enough that no worker of a busy machine is silent for so long while it lives. */
const TAKE_OVER_MS = '5000';

let model: ModelServer;
beforeEach(async () => {
  model = await startModelServer({ script: fleetModel(), latencyMs: 100 });
});
afterEach(() => model.close());

describe.each(['sqlite', 'postgres'] as const)('two workers on Redis, with the ledger in %s', (ledger) => {
  let fleet: Fleet;
  beforeEach(async () => {
    const settings = {
      OPENAI_BASE_URL: model.baseUrl,
      SLOWWAVE_BATCH_IDLE_MS: '300',
      SLOWWAVE_TAKE_OVER_MS: TAKE_OVER_MS,
    };
    fleet = await startFleet({ ledger, workers: 2, settings });
  });
  afterEach(() => fleet.close());

  test(
    'one is killed in the middle: nothing is lost or done twice, and every lane stays in order and in one place',
    async () => {
      const [ingest, search, console] = [
        apiAt(fleet.ingest, null),
        apiAt(fleet.search, null),
        apiAt(fleet.console, null),
      ];
      let crash = Promise.resolve();
      const posted = await postLoad(ingest, {
        users: USERS,
        batches: BATCHES,
        connections: 16,
        onPosted: (count) => {
          if (count === (USERS * BATCHES) / 2) crash = killInTheMiddle(fleet, model, 0);
        },
      });
      await crash;
      await fleet.restartWorker(0);
      await untilQuiet(search, { withinMs: QUIET_WITHIN_MS });
      const evidence = await gatherFleetEvidence({ ingest, search, console }, posted);
      expect(askedAgain(model.calls), 'what the dead worker had asked is asked by another').toBeGreaterThan(0);
      expect(new Set(model.calls.map(({ apiKey }) => apiKey))).toEqual(new Set(fleet.workers));
      const broken = [...checkFleet(evidence), ...checkCalls(model.calls)].filter(({ misses }) => misses.length > 0);
      expect(broken).toEqual([]);
    },
    QUIET_WITHIN_MS + 60_000,
  );
});
