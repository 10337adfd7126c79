import {
  cellGuard,
  kindsOf,
  observe,
  openAll,
  openAudit,
  openLedger,
  openOn,
  openQueue,
  openWaking,
  requireSharedFolder,
  runsOn,
} from '@slowwave/adapters/assemble';
import { openSchedule } from '@slowwave/adapters/bullmq';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { urlPolicy } from '@slowwave/adapters/net';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { ingestRoutes } from './batches.ts';

/** Ingest as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'ingest' });
  await requireSharedFolder(config);
  const observer = observe(config, { log, service: 'slowwave-ingest' });
  const [stored, connection] = await openAll([openLedger(config, log, observer), openQueue(config, log)]);
  const { ledger, cold, coldParts } = await openOn(
    [connection, stored],
    openWaking(config, { ledger: stored, log, observer }),
  );
  const schedule = await openOn([connection, ...coldParts, ledger], openSchedule({ connection, log }));
  const auth = { apiKey: config.apiKey, keys: keyCheck({ ledger, tools: systemTools, log }) };
  const audit = openAudit(config, { ledger, tools: systemTools, log, observer });
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell({
    name: 'ingest',
    auth,
    log,
    runsOn: kindsOf(config),
    ready: { ledger: () => ledger.check(), queue: () => schedule.check() },
    keyRate: config.keyRate,
    audit: audit.sink,
    admit: cold === null ? null : cold.admit,
    cell: cellGuard(config, { ledger, tools: systemTools }),
    metrics: observer.registry,
  });
  const images = config.imageModel !== null && urlPolicy(config.allowedPrivateUrls);
  const { acknowledged } = observer;
  const { due, maxPending } = config;
  const { nudge } = schedule;
  await app.register(ingestRoutes({ ledger, tools: systemTools, log, due, maxPending, images, nudge, acknowledged }));
  return {
    url: await listen(app, config, auth),
    drain: () => drain(app, config.drainMs),
    close: () => closeInOrder(app, schedule, connection, audit, ...coldParts, ledger, observer),
  };
}
