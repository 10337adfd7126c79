import {
  cellGuard,
  comingModels,
  inOneSpaceForCaller,
  kindsOf,
  loadInBackground,
  type Observer,
  type OpenCalibration,
  observe,
  openAll,
  openAudit,
  openCalibrations,
  openChats,
  openCold,
  openLedger,
  openLimits,
  openOn,
  openReceipts,
  openReranker,
  openSpace,
  openVectorCache,
  runsOn,
} from '@slowwave/adapters/assemble';
import { besideRate } from '@slowwave/adapters/audit-and-receipts';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { hurriedEmbedder } from '@slowwave/adapters/limits';
import { countQueryVectors } from '@slowwave/adapters/metrics';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import { o200kTokenizer as tokenizer } from '@slowwave/adapters/tokens';
import {
  type Embedder,
  type EngineDeps,
  type Ledger,
  type Log,
  type SearchIndex,
  type Tokenizer,
  type Tools,
  withoutAsker,
} from '@slowwave/engine';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { mcpRoutes, searchRoutes } from './app.ts';
import type { SearchDeps } from './deps.ts';
import { queryVectors, rewriting } from './question.ts';
import { indexState } from './search.ts';

/** Search as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'search' });
  const observer = observe(config, { log, service: 'slowwave-search' });
  const opening = openLedger(config, log, observer);
  const given = { meter: observer.meter, models: comingModels(opening), ledger: opening };
  const [space, stored] = await openAll([openSpace(config, log, given), opening]);
  const { embedder } = space;
  const { ledger, index, cold, coldParts } = await openOn(
    [space, stored],
    openCold(config, { ledger: stored, space, log, observer }),
  );
  loadInBackground(embedder);
  const tools = systemTools;
  const auth = { apiKey: config.apiKey, keys: keyCheck({ ledger, tools, log }) };
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
    cell: cellGuard(config, { ledger, tools }),
    around: inOneSpaceForCaller,
    admit: cold === null ? null : cold.admit,
    metrics: observer.registry,
  });
  const limits = openLimits(config, { log, ledger }, observer);
  limits.watch(embedder);
  const { chat, chats, otherChat } = await openChats(config, { log, ledger, limits });
  const calibration = openCalibrations(config, { ledger, space, log });
  const { deps, parts } = openSearch(config, {
    ...{ ledger, index, chat, chats, otherChat, tokenizer, tools, log, observer, calibration },
    queryEmbedder: embedder.queries,
  });
  await app.register(searchRoutes(deps));
  await app.register(mcpRoutes({ log, elsewhere: config.serverUrl }));
  return {
    url: await listen(app, config, auth),
    drain: () => drain(app, config.drainMs),
    close: () => closeInOrder(app, ...parts, limits, calibration, ...coldParts, space, audit, ledger, observer),
  };
}

interface Parts extends Pick<EngineDeps, 'chat' | 'chats' | 'otherChat'> {
  readonly ledger: Ledger;
  readonly index: SearchIndex;
  readonly queryEmbedder: Embedder;
  readonly calibration: Pick<OpenCalibration, 'vectors'>;
  readonly tokenizer: Tokenizer;
  readonly tools: Tools;
  readonly log: Log;
  readonly observer: Pick<Observer, 'registry' | 'meter'>;
}

interface OpenSearch {
  readonly deps: SearchDeps;
  /** To be closed after everything that uses it. */
  readonly parts: readonly { close(): Promise<unknown> }[];
}

/** The read routes' dependencies over open stores. */
export function openSearch(config: Config, { observer, queryEmbedder, calibration, ...parts }: Parts): OpenSearch {
  const shared = openVectorCache(config, parts.log);
  const count = countQueryVectors(observer.registry);
  const receipts = openReceipts(config, { ...parts, observer });
  // The builtin model consists of rules, which cannot judge or answer.
  const { name } = parts.chats.recall ?? parts.chat;
  const reader =
    name === 'builtin' ? null : { ...parts, meter: observer.meter, settings: { ceilings: config.ceilings } };
  const deps: SearchDeps = {
    ledger: parts.ledger,
    index: parts.index,
    tools: parts.tools,
    tokenizer: parts.tokenizer,
    log: parts.log,
    meter: observer.meter,
    reranker: openReranker(config, observer),
    reader,
    rewrite: reader && rewriting({ ...reader, tools: parts.tools }),
    embedQuery: queryVectors({
      ...{ embedder: hurriedEmbedder(queryEmbedder), shared, tools: parts.tools, count },
      // Hashed vectors have none of these words anyway.
      ...(config.embeddingModel !== null && { read: withoutAsker }),
    }),
    get vectors() {
      return calibration.vectors();
    },
    messagesInIndex: config.messagesInIndex,
    mayTell: besideRate(parts.tools),
    noteReceipt: receipts && ((answered) => receipts.note(answered)),
    indexState: indexState({ ...parts, embedder: queryEmbedder, messagesInIndex: config.messagesInIndex }),
  };
  return { deps, parts: [shared, receipts].filter((part) => part !== null) };
}
