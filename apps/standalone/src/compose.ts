import {
  cellGuard,
  inOneSpaceForCaller,
  kindsOf,
  observe,
  openAudit,
  openEngine,
  runsOn,
} from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { createLog } from '@slowwave/adapters/pino';
import { lockFolder } from '@slowwave/adapters/sqlite';
import { consolePages, consoleRoutes, manageDeps, mem0Routes } from '@slowwave/console';
import type { Log } from '@slowwave/engine';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { ingestRoutes } from '@slowwave/ingest';
import { mcpRoutes, searchRoutes } from '@slowwave/search';
import { openSearch } from '@slowwave/search/compose';
import { openWork } from '@slowwave/worker';

/** What a started server shows. */
interface Told {
  /** Callers need a key. */
  readonly keyed: boolean;
  readonly runsOn: Record<string, string>;
}

/** Everything in one process. */
export async function compose(config: Config, log: Log = logOf(config)): Promise<Service & Told> {
  // A queue in process is not shared: two processes on one folder would both work every lane.
  const lock = await lockFolder(config.dataDir, config.redisUrl ?? config.databaseUrl);
  const observer = observe(config, { log, service: 'slowwave' });
  const engine = await openEngine(config, log, observer);
  const { ledger, tools } = engine.deps;
  const work = await openWork(config, engine, observer.registry);
  const manage = manageDeps(engine, config);
  const auth = { apiKey: config.apiKey, keys: keyCheck({ ledger, tools, log }) };
  const audit = openAudit(config, { ledger, tools, log, observer });
  const shell = {
    name: 'slowwave',
    auth,
    log,
    runsOn: kindsOf(config),
    ready: engine.ready,
    warnings: engine.warnings,
    keyRate: config.keyRate,
    audit: audit.sink,
    cell: cellGuard(config, engine.deps),
    around: inOneSpaceForCaller,
    admit: engine.cold === null ? null : engine.cold.admit,
    home: consolePages(config),
    metrics: observer.registry,
  };
  const { due, maxPending } = config;
  const reading = openSearch(config, {
    ...engine.deps,
    queryEmbedder: engine.queryEmbedder,
    calibration: engine.calibration,
    observer,
  });
  const ours = [
    ingestRoutes({ ...manage, due, maxPending, acknowledged: observer.acknowledged }),
    searchRoutes(reading.deps),
    consoleRoutes(manage),
  ];
  const app = await createShell(shell);
  for (const routes of ours) await app.register(routes);
  await app.register(mem0Routes(shell, ours, { reset: config.mem0Reset }));
  await app.register(mcpRoutes({ log, elsewhere: null }));
  const parts = [...manage.queues, ...reading.parts, audit, ...engine.parts];
  const close = () => closeInOrder(app, work, ...parts, observer, lock);
  const keyed = config.apiKey !== null || (await auth.keys.any());
  const drained = () => drain(app, config.drainMs);
  const url = await listen(app, config, auth).catch(async (error: unknown) => {
    // Whoever tries again, in this process, needs the folder.
    await close();
    throw error;
  });
  return { url, drain: drained, close, keyed, runsOn: runsOn(config) };
}

const logOf = ({ logLevel }: Config): Log => createLog({ level: logLevel, name: 'slowwave' });
