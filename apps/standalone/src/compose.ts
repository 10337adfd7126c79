import { openEngine, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import { consoleRoutes, manageDeps } from '@slowwave/console';
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
  const engine = await openEngine(config, log);
  const { ledger, index, embedder, tools } = engine.deps;
  const metrics = new Registry();
  measureLedger(metrics, ledger, tools);
  const work = await startWork(engine.deps, { ...engine, concurrency: config.concurrency });
  const manage = manageDeps(engine);
  const app = await createShell({
    name: 'slowwave',
    auth: config,
    log,
    runsOn: runsOn(config),
    ready: engine.ready,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    metrics,
  });
  await app.register(ingestRoutes({ ...manage, due: config.due }));
  const state = indexState({ index, ledger, embedder, tools });
  await app.register(searchRoutes({ ledger, index, tools, log, embedQuery: embedQuery(embedder), indexState: state }));
  await app.register(consoleRoutes(manage));
  const close = () => closeInOrder(app, work, ...manage.queues, ...engine.parts, lock);
  return { url: await listen(app, config), close };
}
