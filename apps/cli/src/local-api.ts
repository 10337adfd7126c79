import { type Audit, observe, openAudit, openEngine, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { lockFolder } from '@slowwave/adapters/sqlite';
import { consoleRoutes, manageDeps } from '@slowwave/console';
import { type AuditSink, closeInOrder, createShell } from '@slowwave/http';
import { ingestRoutes } from '@slowwave/ingest';
import { searchRoutes } from '@slowwave/search';
import { openSearch } from '@slowwave/search/compose';
import type { Api } from './api.ts';
import { CommandError, EXIT } from './exit.ts';
import { quietLog, requireLedger } from './stores.ts';

/**
 * The routes of a server in this process, over the stores that the settings name. `writes`: what is asked changes
 * something, so that no standalone server may have the folder, whose queue would not hear of it.
 */
export async function localApi(config: Config, { writes }: { writes: boolean }): Promise<Api> {
  await requireLedger(config);
  const inProcess = config.redisUrl === null && config.databaseUrl === null;
  const lock = writes && inProcess ? await claimFolder(config.dataDir) : null;
  const log = await quietLog(config);
  const observer = observe({ ...config, traces: null }, { log, service: 'slowwave-cli' });
  const engine = await openEngine(config, log, observer);
  const manage = manageDeps(engine, config);
  const { ledger, tools } = engine.deps;
  const audit = openAudit(config, { ledger, tools, log, observer });
  const app = await createShell({
    name: 'slowwave',
    auth: { apiKey: null, keys: null },
    log,
    runsOn: runsOn(config),
    ready: engine.ready,
    keyRate: null,
    audit: asOffline(audit),
    admit: engine.cold === null ? null : engine.cold.admit,
    metrics: observer.registry,
  });
  const { due, maxPending } = config;
  await app.register(ingestRoutes({ ...manage, due, maxPending, acknowledged: () => {} }));
  const { queryEmbedder, calibration } = engine;
  const reading = openSearch(config, { ...engine.deps, queryEmbedder, calibration, observer });
  await app.register(searchRoutes(reading.deps));
  await app.register(consoleRoutes(manage));
  return {
    ask: async ({ method, path, body }) => {
      const answer = await app.inject({ method, url: path, ...(body !== undefined && { payload: body }) });
      const isJson = String(answer.headers['content-type']).includes('json');
      return { status: answer.statusCode, body: isJson ? answer.json() : answer.body };
    },
    close: () =>
      closeInOrder(app, ...manage.queues, ...reading.parts, audit, ...engine.parts, ...(lock === null ? [] : [lock])),
  };
}

/** Whoever has the files needs no key: the audit log says so. */
const asOffline = ({ sink }: Audit): AuditSink | null =>
  sink && { what: sink.what, record: (entry) => sink.record({ ...entry, by: 'offline' }) };

/** The queue of a standalone server would not hear of what is changed beside it. */
async function claimFolder(folder: string): Promise<{ close(): Promise<void> }> {
  try {
    return await lockFolder(folder);
  } catch (error) {
    const problem = error instanceof Error ? error.message : String(error);
    throw new CommandError(`${problem}\nTo use a running server, remove --offline.`, EXIT.unavailable);
  }
}
