import { type ModelServer, startModelServer, startRedisCluster, type TestRedisCluster } from '@slowwave/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { apiAt } from '../src/api.ts';
import { checkCalls } from '../src/fleet/calls.ts';
import { checkFleet } from '../src/fleet/checks.ts';
import { gatherFleetEvidence } from '../src/fleet/evidence.ts';
import { type Fleet, startFleet } from '../src/fleet/fleet.ts';
import { postLoad } from '../src/fleet/load.ts';
import { untilQuiet } from '../src/fleet/quiet.ts';
import { fleetModel } from '../src/fleet/said.ts';

// biome-ignore lint/style/noProcessEnv: ./scripts/prove cluster says how many
const USERS = Number(process.env.CLUSTER_USERS ?? 100);
// biome-ignore lint/style/noProcessEnv: ./scripts/prove cluster says how many
const BATCHES = Number(process.env.CLUSTER_BATCHES ?? 5);
const SHARDS = 4;
/** Far more than a batch takes where nothing else goes on. */
const BATCH_WITHIN_MS = 200;
const QUIET_WITHIN_MS = 240_000 + USERS * BATCHES * BATCH_WITHIN_MS;

let model: ModelServer;
let cluster: TestRedisCluster;
let fleet: Fleet;
beforeEach(async () => {
  [model, cluster] = await Promise.all([
    startModelServer({ script: fleetModel(), latencyMs: 20 }),
    startRedisCluster(),
  ]);
  const settings = {
    OPENAI_BASE_URL: model.baseUrl,
    SLOWWAVE_BATCH_IDLE_MS: '300',
    REDIS_URL: cluster.url,
    SLOWWAVE_REDIS_CLUSTER: cluster.nodes.join(','),
    SLOWWAVE_QUEUE_SHARDS: String(SHARDS),
  };
  fleet = await startFleet({ ledger: 'sqlite', workers: 2, settings });
}, 120_000);
afterEach(async () => {
  await fleet.close();
  await cluster.stop();
  await model.close();
}, 120_000);

test(
  'a master of the cluster that has turns dies in the middle: nothing is lost or done twice, and every lane stays in order',
  async () => {
    const [ingest, search, console] = [
      apiAt(fleet.ingest, null),
      apiAt(fleet.search, null),
      apiAt(fleet.console, null),
    ];
    let killed = Promise.resolve();
    const posted = await postLoad(ingest, {
      users: USERS,
      batches: BATCHES,
      connections: 16,
      onPosted: (count) => {
        if (count === (USERS * BATCHES) / 2) killed = cluster.killMasterOf('{slowwave-1}:consolidate-1:meta');
      },
    });
    await killed;
    await untilQuiet(search, { withinMs: QUIET_WITHIN_MS });
    const evidence = await gatherFleetEvidence({ ingest, search, console }, posted);
    const broken = [...checkFleet(evidence), ...checkCalls(model.calls)].filter(({ misses }) => misses.length > 0);
    expect(broken).toEqual([]);
  },
  QUIET_WITHIN_MS * 2,
);
