import {
  cellGuard,
  inOneSpaceForCaller,
  kindsOf,
  type Observer,
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
  type Log,
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

export { mem0Routes };

/** Console as a process of its own. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'console' });
  await requireSharedFolder(config);
  const observer = observe(config, { log, service: 'slowwave-console' });
  const engine = await openEngine(config, log, observer);
  const { auth, shell, routes, mem0, parts } = openRoutes(config, engine, { name: 'console', log, observer });
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell(shell);
  await app.register(routes.manage);
  await app.register(mem0);
  return {
    url: await listen(app, config, auth),
    drain: () => drain(app, config.drainMs),
    close: () => closeInOrder(app, ...parts, ...engine.parts, observer),
  };
}

interface Process {
  readonly name: string;
  readonly log: Log;
  readonly observer: Observer;
}

/** All routes over an open engine, and the shell that they are served in. `parts` are to be closed before those of the engine. */
export function openRoutes(config: Config, engine: OpenEngine, { name, log, observer }: Process) {
  const { deps, queryEmbedder, calibration, ready, warnings, cold } = engine;
  const { ledger, tools } = deps;
  const { due, maxPending, apiKey, keyRate } = config;
  const manage = manageDeps(engine, config);
  const reading = openSearch(config, { ...deps, queryEmbedder, calibration, observer });
  const auth = { apiKey, keys: keyCheck({ ledger, tools, log }) };
  const audit = openAudit(config, { ledger, tools, log, observer });
  const shell = {
    ...{ name, auth, log, ready, warnings, keyRate },
    runsOn: kindsOf(config),
    audit: audit.sink,
    cell: cellGuard(config, deps),
    around: inOneSpaceForCaller,
    admit: cold === null ? null : cold.admit,
    home: consolePages(config),
    metrics: observer.registry,
  };
  const routes = {
    ingest: ingestRoutes({ ...manage, due, maxPending, acknowledged: observer.acknowledged }),
    search: searchRoutes(reading.deps),
    manage: consoleRoutes(manage),
  };
  const mem0 = mem0Routes(shell, Object.values(routes), { reset: config.mem0Reset });
  return { auth, shell, routes, mem0, parts: [...manage.queues, ...reading.parts, audit] };
}

/** Proxies wait for longer. */
const SEARCHABLE_WITHIN_MS = 10_000;

/** The manage routes' dependencies over an open engine. */
function manageDeps(
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
