import {
  kindsOf,
  observe,
  openAll,
  openAudit,
  openChat,
  openEmbedder,
  openIndex,
  openLedger,
  openLimits,
  runsOn,
} from '@slowwave/adapters/assemble';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import { o200kTokenizer as tokenizer } from '@slowwave/adapters/tokens';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { searchRoutes } from './app.ts';
import { openSearch } from './open-search.ts';

/** Search as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'search' });
  const observer = observe(config, { log, service: 'slowwave-search' });
  const embedding = openEmbedder(config, log, observer);
  const indexing = embedding.then((opened) => openIndex(config, opened, log));
  const [ledger, index] = await openAll([openLedger(config, log, observer), indexing]);
  const embedder = await embedding;
  const tools = systemTools;
  const auth = { apiKey: config.apiKey, keys: keyCheck({ keys: ledger.keys, tools, log }) };
  const audit = openAudit(config, { ledger, tools, log, observer });
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell({
    name: 'search',
    auth,
    log,
    runsOn: kindsOf(config),
    ready: { ledger: () => ledger.check(), index: async () => void (await index.marker()) },
    keyRate: config.keyRate,
    audit: audit.sink,
    metrics: observer.registry,
  });
  const limits = openLimits(config, log, observer);
  const chat = limits.of(await openChat(config, log));
  const { deps, parts } = openSearch(config, { ledger, index, embedder, chat, tokenizer, tools, log, observer });
  await app.register(searchRoutes(deps));
  return {
    url: await listen(app, config, auth),
    drain: () => drain(app, config.drainMs),
    close: () => closeInOrder(app, ...parts, limits, index, audit, ledger, observer),
  };
}
