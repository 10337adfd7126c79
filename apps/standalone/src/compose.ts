import {
  engineSettings,
  openChat,
  openEmbedder,
  openImageModel,
  openIndex,
  openLedger,
  openQueue,
  runsOn,
} from '@slowwave/adapters/assemble';
import { openSchedule, queueFor } from '@slowwave/adapters/bullmq';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import { o200kTokenizer } from '@slowwave/adapters/tokens';
import { consoleRoutes, replayLane } from '@slowwave/console';
import { QUEUES } from '@slowwave/contracts';
import { memoryWriter, reviewer } from '@slowwave/engine';
import { BODY_LIMIT_BYTES, closeInOrder, createShell, listen, Registry, type Service } from '@slowwave/http';
import { ingestRoutes } from '@slowwave/ingest';
import { embedQuery, indexState, searchRoutes } from '@slowwave/search';
import { measureLedger, startWork } from '@slowwave/worker';
import { lockFolder } from './lock-folder.ts';

/** Everything in one process. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'slowwave' });
  // The queue in process knows nothing of other processes: two of them on one folder would both work every lane.
  const lock = await lockFolder(config.dataDir);
  const embedder = await openEmbedder(config, log);
  const [ledger, index, connection] = await Promise.all([
    openLedger(config),
    openIndex(config, embedder),
    openQueue(config, log),
  ]);
  const schedule = await openSchedule({ connection, log });
  const queues = Object.values(QUEUES).map(({ name }) => queueFor(connection, name));
  const tools = systemTools;
  const metrics = new Registry();
  measureLedger(metrics, ledger, tools);
  const deps = {
    ledger,
    index,
    embedder,
    chat: openChat(config, log),
    imageModel: openImageModel(config, log),
    tokenizer: o200kTokenizer,
    tools,
    log,
    settings: engineSettings(config),
  };
  const work = await startWork(deps, { connection, schedule, concurrency: config.concurrency });
  const app = await createShell({
    name: 'slowwave',
    auth: config,
    log,
    runsOn: runsOn(config),
    ready: {
      ledger: () => ledger.check(),
      queue: () => schedule.check(),
      index: async () => void (await index.marker()),
    },
    bodyLimitBytes: BODY_LIMIT_BYTES,
    metrics,
  });
  const nudge = schedule.nudge;
  await app.register(ingestRoutes({ ledger, tools, log, due: config.due, images: deps.imageModel !== null, nudge }));
  const state = indexState({ index, ledger, embedder, tools });
  await app.register(searchRoutes({ ledger, index, tools, log, embedQuery: embedQuery(embedder), indexState: state }));
  const writing = { ledger, index, embedder, tools, log };
  const manage = { ledger, tools, log, queues, nudge, writer: memoryWriter(writing), reviewer: reviewer(writing) };
  await app.register(consoleRoutes({ ...manage, replayLane: replayLane({ ledger, tools, nudge }) }));
  const close = () => closeInOrder(app, work, ...queues, schedule, connection, index, ledger, lock);
  return { url: await listen(app, config), close };
}
