import {
  cellGuard,
  inOneSpaceForCaller,
  kindsOf,
  type OpenEngine,
  observe,
  openAudit,
  openEngine,
  requireSharedFolder,
  runsOn,
} from '@slowwave/adapters/assemble';
import { queueFor, shardQueues } from '@slowwave/adapters/bullmq';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck, newSecret } from '@slowwave/adapters/keys';
import { hurriedEmbedder } from '@slowwave/adapters/limits';
import { createLog } from '@slowwave/adapters/pino';
import { newWebhookSecret } from '@slowwave/adapters/webhooks';
import { QUEUES } from '@slowwave/contracts';
import {
  examine,
  graphWriter,
  memoryWriter,
  nightSettler,
  preview,
  projectWithin,
  questionsOf,
  rater,
  reviewer,
  undoer,
  withdrawer,
} from '@slowwave/engine';
import { closeInOrder, createShell, drain, listen, type Service } from '@slowwave/http';
import { ingestRoutes } from '@slowwave/ingest';
import { searchRoutes } from '@slowwave/search';
import { openSearch } from '@slowwave/search/compose';
import { consoleRoutes } from './app.ts';
import { fewPreviews } from './consolidations.ts';
import type { ConsoleDeps } from './deps.ts';
import { mem0Routes } from './mem0/routes.ts';
import { consolePages } from './pages.ts';
import { replayLane } from './replays.ts';

export { consolePages, consoleRoutes, mem0Routes };

/** Console as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'console' });
  await requireSharedFolder(config);
  const observer = observe(config, { log, service: 'slowwave-console' });
  const engine = await openEngine(config, log, observer);
  const manage = manageDeps(engine, config);
  const reading = openSearch(config, {
    ...engine.deps,
    queryEmbedder: engine.queryEmbedder,
    calibration: engine.calibration,
    observer,
  });
  const { ledger, tools } = engine.deps;
  const auth = { apiKey: config.apiKey, keys: keyCheck({ ledger, tools, log }) };
  const audit = openAudit(config, { ledger, tools, log, observer });
  const shell = {
    name: 'console',
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
  const posting = ingestRoutes({ ...manage, due, maxPending, acknowledged: observer.acknowledged });
  const managing = consoleRoutes(manage);
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell(shell);
  await app.register(managing);
  await app.register(mem0Routes(shell, [posting, searchRoutes(reading.deps), managing], { reset: config.mem0Reset }));
  return {
    url: await listen(app, config, auth),
    drain: () => drain(app, config.drainMs),
    close: () => closeInOrder(app, ...manage.queues, ...reading.parts, audit, ...engine.parts, observer),
  };
}

/** Proxies wait for longer. */
const SEARCHABLE_WITHIN_MS = 10_000;

/** The manage routes' dependencies over an open engine. */
export function manageDeps(
  { deps, bundles, cold, copies, images, tenantModels, models, moves, connection, schedule, urls }: OpenEngine,
  { cell }: Pick<Config, 'cell'>,
): ConsoleDeps {
  const { ledger, tools, log, otherChat, otherEmbedder = async () => null } = deps;
  // Writers wait for the response.
  const prompt = { ...deps, embedder: hurriedEmbedder(deps.embedder) };
  const { nudge, forgetFailed } = schedule;
  return {
    ledger,
    bundles,
    cold,
    copies,
    cell,
    tools,
    log,
    otherChat,
    otherEmbedder,
    tenantModels,
    models,
    moves,
    ceilings: deps.settings.ceilings,
    nudge,
    forgetFailed,
    newSecret,
    webhooks: { check: urls.check, newSecret: newWebhookSecret },
    makeSearchable: (lane) => projectWithin(prompt, lane, SEARCHABLE_WITHIN_MS),
    writer: memoryWriter(prompt),
    graphWriter: graphWriter(prompt),
    rater: rater(prompt),
    reviewer: reviewer(prompt),
    undoer: undoer(prompt),
    nightSettler: nightSettler(prompt),
    withdrawer: withdrawer(prompt),
    images,
    preview: fewPreviews((asked, cancel) => preview(deps, asked, cancel)),
    questions: (thought, cancel) => questionsOf(deps, thought, cancel),
    examine: (how) => examine({ ...deps, thinker: deps, ...(cold !== null && { sleeping: cold }) }, how),
    queues: Object.values(QUEUES)
      .flatMap(({ name }) => (name === QUEUES.consolidate.name ? shardQueues(name, connection.shards) : [name]))
      .map((name) => queueFor(connection, name)),
    replayLane: replayLane({ ledger, tools, log, nudge, forgetFailed }),
  };
}
