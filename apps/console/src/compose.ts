import { kindsOf, observe, openAudit, openEngine, requireSharedFolder, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { createLog } from '@slowwave/adapters/pino';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { ingestRoutes } from '@slowwave/ingest';
import { openSearch, searchRoutes } from '@slowwave/search';
import { consoleRoutes } from './app.ts';
import { manageDeps } from './manage-deps.ts';
import { mem0Routes } from './mem0/routes.ts';

/** Console as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'console' });
  await requireSharedFolder(config);
  const observer = observe(config, { log, service: 'slowwave-console' });
  const engine = await openEngine(config, log, observer);
  const manage = manageDeps(engine);
  const reading = openSearch(config, { ...engine.deps, observer });
  const { ledger, tools } = engine.deps;
  const auth = { apiKey: config.apiKey, keys: keyCheck({ keys: ledger.keys, tools, log }) };
  const audit = openAudit(config, { ledger, tools, log, observer });
  const shell = {
    name: 'console',
    auth,
    log,
    runsOn: kindsOf(config),
    ready: engine.ready,
    keyRate: config.keyRate,
    audit: audit.sink,
    metrics: observer.registry,
  };
  const { due, maxPending } = config;
  const posting = ingestRoutes({ ...manage, due, maxPending, acknowledged: observer.acknowledged });
  const managing = consoleRoutes(manage);
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell(shell);
  await app.register(managing);
  await app.register(mem0Routes(shell, [posting, searchRoutes(reading.deps), managing]));
  return {
    url: await listen(app, config, auth),
    drain: () => drain(app, config.drainMs),
    close: () => closeInOrder(app, ...manage.queues, ...reading.parts, audit, ...engine.parts, observer),
  };
}
