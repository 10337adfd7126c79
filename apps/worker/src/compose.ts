import {
  eachInOneSpace,
  kindsOf,
  type OpenEngine,
  observe,
  openEngine,
  requireSharedFolder,
  runsOn,
} from '@slowwave/adapters/assemble';
import {
  keepLocks,
  openErasureQueue,
  openFollowUps,
  startErasureWorker,
  startSleepWorker,
  startStudyWorker,
  startSummaryWorker,
  startTurnWorker,
  type Workers,
} from '@slowwave/adapters/bullmq';
import type { Config } from '@slowwave/adapters/config';
import { keyCheck } from '@slowwave/adapters/keys';
import { limitedEmbedder, memoryLimiter, slots, slottedChat, slottedEmbedder } from '@slowwave/adapters/limits';
import { createLog } from '@slowwave/adapters/pino';
import {
  adoptIndex,
  type ChatModel,
  type Embedder,
  type EngineDeps,
  eraseOwner,
  refreshSummary,
  sleepLane,
  studyLane,
  takeTurn,
  turnDueAt,
} from '@slowwave/engine';
import { closeInOrder, createShell, listen, type Registry, type Service } from '@slowwave/http';
import { measure } from './metrics.ts';
import { startSweeps } from './sweeps.ts';

/** A worker as a process of its own. Its only routes are health and metrics. */
export async function compose(config: Config): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'worker' });
  await requireSharedFolder(config);
  const observer = observe(config, { log, service: 'slowwave-worker' });
  const engine = await openEngine(config, log, observer);
  const work = await openWork(config, engine, observer.registry);
  const auth = {
    apiKey: config.apiKey,
    keys: keyCheck({ ledger: engine.deps.ledger, tools: engine.deps.tools, log }),
  };
  log.info(runsOn(config), 'effective configuration');
  const app = await createShell({
    name: 'worker',
    auth,
    log,
    runsOn: kindsOf(config),
    ready: engine.ready,
    warnings: engine.warnings,
    // Silent connections are replaced. If that does not help, a restart may.
    alive: async () => {
      if (engine.connection.pulse.isSilent()) await engine.schedule.check();
    },
    keyRate: config.keyRate,
    metrics: observer.registry,
  });
  return { url: await listen(app, config, auth), close: () => closeInOrder(app, work, ...engine.parts, observer) };
}

/** Nobody waits for a summary or a study, so most model time is for turns. */
const TURNS_PER_SUMMARY = 4;
const TURNS_PER_STUDY = 2;

/** Between its model calls a turn reads and writes. Half as many turns again keep the models busy meanwhile. */
const CALLS_PER_SPARE_TURN = 2;

/** Everything a worker does: turns of lanes, summaries, studies, nights, erasures, and sweeps for what was missed. */
export async function openWork(
  { concurrency, embeddingConcurrency, takeOverMs, chatServer, webhookDays, auditDays, receiptDays }: Config,
  {
    deps: given,
    connection,
    schedule,
    sender,
    loadEmbedder,
    rememberChat,
    firstQuestion,
    adopt,
    moves,
    calibration,
    cold,
  }: OpenEngine,
  metrics: Registry,
): Promise<{ close(): Promise<void> }> {
  await rememberChat();
  const { attempted, studied, slept } = measure(metrics, given, schedule);
  const deps = { ...given, ...withSlots(given, concurrency), embedder: patient(given, embeddingConcurrency) };
  loadEmbedder();
  firstQuestion.ask();
  await adopt((space) => adoptIndex({ ...deps, ...space }));
  calibration.measure();
  const { log } = deps;
  const followUps = await openFollowUps({ connection, log });
  const erasures = await openErasureQueue({ connection, log });
  const kept = { webhookDays, auditDays, receiptDays };
  const sweeps = startSweeps(deps, { moves, cold, schedule, followUps, erasures, sender, attempted, ...kept });
  const { lockServer: server } = connection;
  const locks = server === null ? undefined : await keepLocks({ server, lockMs: takeOverMs, log });
  const on = { connection, takeOverMs, locks, modelTimeoutMs: chatServer.timeoutMs, log };
  const turns = concurrency + Math.floor(concurrency / CALLS_PER_SPARE_TURN);
  const summaries = Math.ceil(concurrency / TURNS_PER_SUMMARY);
  const studies = Math.ceil(concurrency / TURNS_PER_STUDY);
  const study = studyLane({ ...deps, studied, takeOverMs });
  const workers: Workers = {
    consolidate: startTurnWorker({
      ...on,
      concurrency: turns,
      handler: eachInOneSpace(takeTurn({ ...deps, followUps })),
      dueAt: turnDueAt(deps),
    }),
    summarize: startSummaryWorker({ ...on, concurrency: summaries, handler: eachInOneSpace(refreshSummary(deps)) }),
    study: startStudyWorker({ ...on, concurrency: studies, handler: eachInOneSpace(study) }),
    // One at a time: nobody waits for the end of a night.
    sleep: startSleepWorker({
      ...on,
      concurrency: 1,
      handler: eachInOneSpace(sleepLane({ ...deps, slept, takeOverMs })),
    }),
    // One at a time: several erasures may be compacted together.
    erase: startErasureWorker({
      ...on,
      concurrency: 1,
      handler: eachInOneSpace(eraseOwner({ ...deps, queue: erasures, ...(cold !== null && { segments: cold }) })),
    }),
  };
  return {
    /** Gives running turns back and stops. */
    close: async () => {
      await Promise.all([sweeps, ...Object.values(workers)].map((one) => one.close()));
      await locks?.close();
      await followUps.close();
      await erasures.close();
    },
  };
}

type Chats = Pick<EngineDeps, 'chat' | 'chats' | 'otherChat' | 'imageModel'>;

/** All that ask chat models share a number of concurrent calls. */
function withSlots({ chat, chats, otherChat, imageModel }: Chats, count: number): Chats {
  const places = slots(count);
  const slotted = <C extends ChatModel | null>(model: C) => model && slottedChat(model, places);
  return {
    chat: slottedChat(chat, places),
    chats: Object.fromEntries(Object.entries(chats).map(([step, model]) => [step, slottedChat(model, places)])),
    otherChat: (model, use) => slotted(otherChat(model, use)),
    imageModel: slotted(imageModel),
  };
}

/**
 * Background work pauses when the embedder returns "too many requests", and limits its concurrent calls: a server that computes
 * one text at a time would only queue more of them, until all take too long. Searches and explicit writes, which somebody waits
 * for, are not limited here.
 */
function patient({ embedder, log }: EngineDeps, count: number): Embedder {
  const limiter = memoryLimiter({ requestsPerMinute: null, tokensPerMinute: null });
  return slottedEmbedder(limitedEmbedder(embedder, { limiter, log }), slots(count));
}
