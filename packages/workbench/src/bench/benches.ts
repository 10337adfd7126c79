import { answers } from './answers.ts';
import type { Bench } from './bench.ts';
import { cellsSimulation } from './cells-simulation.ts';
import { cost } from './cost.ts';
import { embedders } from './embedders/embedders.ts';
import { fleet } from './fleet.ts';
import { flood } from './flood.ts';
import { fresh } from './fresh.ts';
import { graph } from './graph.ts';
import { growth } from './growth.ts';
import { ingest } from './ingest.ts';
import { keys } from './keys.ts';
import { ledgers } from './ledgers.ts';
import { mixed } from './mixed.ts';
import { noisy } from './noisy.ts';
import { bytes } from './owner/bytes.ts';
import { cold } from './owner/cold.ts';
import { owner } from './owner/owner.ts';
import { pages } from './pages.ts';
import { peers } from './peers/peers.ts';
import { context } from './precision/context.ts';
import { precision } from './precision/precision.ts';
import { provider } from './provider.ts';
import { router } from './router.ts';
import { script } from './script/script.ts';
import { search } from './search.ts';
import { sleep } from './sleep.ts';
import { updates } from './updates.ts';
import { worker } from './worker.ts';

export const BENCHES: readonly Bench[] = [
  worker,
  fleet,
  ledgers,
  script,
  ingest,
  noisy,
  provider,
  embedders,
  search,
  precision,
  context,
  updates,
  growth,
  owner,
  bytes,
  cold,
  graph,
  mixed,
  flood,
  fresh,
  cost,
  sleep,
  keys,
  router,
  cellsSimulation,
  answers,
  pages,
  peers,
];
