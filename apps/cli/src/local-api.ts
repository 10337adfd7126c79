import { observe, openEngine, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { lockFolder } from '@slowwave/adapters/sqlite';
import { openRoutes } from '@slowwave/console';
import { type AuditSink, closeInOrder, createShell } from '@slowwave/http';
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
  const { shell, routes, parts } = openRoutes(config, engine, { name: 'slowwave', log, observer });
  const app = await createShell({
    ...{ name: shell.name, log, ready: shell.ready, admit: shell.admit, metrics: shell.metrics },
    ...{ runsOn: runsOn(config), auth: { apiKey: null, keys: null }, keyRate: null },
    audit: asOffline(shell.audit),
  });
  for (const ours of Object.values(routes)) await app.register(ours);
  return {
    ask: async ({ method, path, body }) => {
      const answer = await app.inject({ method, url: path, ...(body !== undefined && { payload: body }) });
      const isJson = String(answer.headers['content-type']).includes('json');
      return { status: answer.statusCode, body: isJson ? answer.json() : answer.body };
    },
    close: () => closeInOrder(app, ...parts, ...engine.parts, ...(lock === null ? [] : [lock])),
  };
}

/** Whoever has the files needs no key: the audit log says so. */
const asOffline = (sink: AuditSink | null): AuditSink | null =>
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
