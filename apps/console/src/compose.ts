import { openEmbedder, openIndex, openLedger, openQueue, runsOn } from '@slowwave/adapters/assemble';
import { openSchedule, queueFor } from '@slowwave/adapters/bullmq';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import { QUEUES } from '@slowwave/contracts';
import { memoryWriter, reviewer } from '@slowwave/engine';
import { BODY_LIMIT_BYTES, closeInOrder, createShell, listen, Registry, type Service } from '@slowwave/http';
import { consoleRoutes } from './app.ts';
import { replayLane } from './replay-lane.ts';

/** Console as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'console' });
  const embedder = await openEmbedder(config, log);
  const ledger = await openLedger(config);
  const index = await openIndex(config, embedder);
  const connection = await openQueue(config, log);
  const schedule = await openSchedule({ connection, log });
  const queues = Object.values(QUEUES).map(({ name }) => queueFor(connection, name));
  const tools = systemTools;
  const app = await createShell({
    name: 'console',
    auth: config,
    log,
    runsOn: runsOn(config),
    ready: { ledger: () => ledger.check(), queue: () => schedule.check() },
    bodyLimitBytes: BODY_LIMIT_BYTES,
    metrics: new Registry(),
  });
  const nudge = schedule.nudge;
  const writing = { ledger, index, embedder, tools, log };
  const manage = { ledger, tools, log, queues, nudge, writer: memoryWriter(writing), reviewer: reviewer(writing) };
  await app.register(consoleRoutes({ ...manage, replayLane: replayLane({ ledger, tools, nudge }) }));
  const close = () => closeInOrder(app, ...queues, schedule, connection, index, ledger);
  return { url: await listen(app, config), close };
}
