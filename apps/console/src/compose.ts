import { observe, openEngine, runsOn } from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { createLog } from '@slowwave/adapters/pino';
import { BODY_LIMIT_BYTES, closeInOrder, createShell, listen, type Service } from '@slowwave/http';
import { consoleRoutes } from './app.ts';
import { manageDeps } from './manage-deps.ts';

/** Console as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'console' });
  const observer = observe(config, { log, service: 'slowwave-console' });
  const engine = await openEngine(config, log, observer);
  const manage = manageDeps(engine);
  const auth = {
    apiKey: config.apiKey,
    keys: keyCheck({ keys: engine.deps.ledger.keys, tools: engine.deps.tools, log }),
  };
  const app = await createShell({
    name: 'console',
    auth,
    log,
    runsOn: runsOn(config),
    ready: engine.ready,
    bodyLimitBytes: BODY_LIMIT_BYTES,
    keyRate: config.keyRate,
    metrics: observer.registry,
  });
  await app.register(consoleRoutes(manage));
  return {
    url: await listen(app, config, auth),
    close: () => closeInOrder(app, ...manage.queues, ...engine.parts, observer),
  };
}
