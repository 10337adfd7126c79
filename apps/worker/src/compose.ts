import { kindsOf, observe, openEngine, requireSharedFolder, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { createLog } from '@slowwave/adapters/pino';
import { closeInOrder, createShell, listen, type Service } from '@slowwave/http';
import { measureDoctor, measureLedger, measureQueue, measureStudies, measureWebhooks } from './metrics.ts';
import { startWork } from './work.ts';

/** A worker as a process of its own: no routes but health and metrics. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'worker' });
  await requireSharedFolder(config);
  const observer = observe(config, { log, service: 'slowwave-worker' });
  const engine = await openEngine(config, log, observer);
  measureLedger(observer.registry, engine.deps);
  measureDoctor(observer.registry, engine.deps);
  measureQueue(observer.registry, engine.schedule);
  const attempted = measureWebhooks(observer.registry, engine.deps);
  const studied = measureStudies(observer.registry, engine.deps);
  const { concurrency, takeOverMs, webhookDays, auditDays } = config;
  const place = { ...engine, concurrency, takeOverMs, webhookDays, auditDays, attempted, studied };
  const work = await startWork(engine.deps, place);
  const auth = {
    apiKey: config.apiKey,
    keys: keyCheck({ keys: engine.deps.ledger.keys, tools: engine.deps.tools, log }),
  };
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell({
    name: 'worker',
    auth,
    log,
    runsOn: kindsOf(config),
    ready: engine.ready,
    // Its connections are replaced; where that does not help either, a new start may.
    alive: async () => {
      if (engine.connection.pulse.isSilent()) await engine.schedule.check();
    },
    keyRate: config.keyRate,
    metrics: observer.registry,
  });
  return { url: await listen(app, config, auth), close: () => closeInOrder(app, work, ...engine.parts, observer) };
}
