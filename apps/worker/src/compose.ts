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
import { openSchedule } from '@slowwave/adapters/bullmq';
import type { Config } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import { o200kTokenizer } from '@slowwave/adapters/tokens';
import { BODY_LIMIT_BYTES, closeInOrder, createShell, listen, Registry, type Service } from '@slowwave/http';
import { measureLedger } from './measure-ledger.ts';
import { startWork } from './work.ts';

/** A worker as a process of its own: no routes but health and metrics. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'worker' });
  const embedder = await openEmbedder(config, log);
  const ledger = await openLedger(config);
  const index = await openIndex(config, embedder);
  const connection = await openQueue(config, log);
  const schedule = await openSchedule({ connection, log });
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
    name: 'worker',
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
  const close = () => closeInOrder(app, work, schedule, connection, index, ledger);
  return { url: await listen(app, config), close };
}
