import { observe, openEngine, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import { lockFolder } from '@slowwave/adapters/sqlite';
import { openRoutes } from '@slowwave/console';
import type { Log } from '@slowwave/engine';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { mcpRoutes } from '@slowwave/search';
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
  const work = await openWork(config, engine, observer.registry);
  const { auth, shell, routes, mem0, parts } = openRoutes(config, engine, { name: 'slowwave', log, observer });
  const app = await createShell(shell);
  for (const ours of Object.values(routes)) await app.register(ours);
  await app.register(mem0);
  await app.register(mcpRoutes({ log, elsewhere: null }));
  const close = () => closeInOrder(app, work, ...parts, ...engine.parts, observer, lock);
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
