import { setTimeout as sleep } from 'node:timers/promises';
import {
  openErasureQueue,
  openFollowUps,
  type QueueConnection,
  startErasureWorker,
  startStudyWorker,
  startSummaryWorker,
  startTurnWorker,
} from '@slowwave/adapters/bullmq';
import { limitedEmbedder, memoryLimiter, slots, slottedChat, slottedEmbedder } from '@slowwave/adapters/limits';
import {
  type Attempted,
  adoptIndex,
  type Embedder,
  type EngineDeps,
  eraseOwner,
  laneSweep,
  type Nudge,
  refreshSummary,
  type Schedule,
  type StudyOutcome,
  studyLane,
  sweepErasures,
  sweepOutbox,
  sweepReplays,
  sweepRetention,
  sweepStudies,
  takeTurn,
  turnDueAt,
  type WebhookSender,
} from '@slowwave/engine';
import { type Drop, dropOld, webhookDeliveries } from './sweeps.ts';

/** How often due lanes without a job and unprojected changes are looked for: what a lost nudge costs at most. */
const SWEEP_MS = 1_000;

/** What is kept for days needs no haste, and looking for it reads every memory of a tenant that forgets. */
const RETENTION_MS = 3_600_000;

/** Nobody waits for a summary or a study: most of the models' time is for turns. */
const TURNS_PER_SUMMARY = 4;
const TURNS_PER_STUDY = 2;

/** A turn embeds in a small part of its time: more calls at once would only stand before each other at the embedder. */
const TURNS_PER_EMBEDDING = 2;

/** Between its calls a turn reads and writes: others keep the models busy meanwhile. One in two more was found to do. */
const CALLS_PER_SPARE_TURN = 2;

interface Workplace {
  readonly connection: QueueConnection;
  readonly schedule: Schedule;
  /** Calls of chat models that are under way at a time. */
  readonly concurrency: number;
  readonly takeOverMs: number;
  readonly sender: WebhookSender;
  readonly webhookDays: number;
  readonly auditDays: number;
  /** An attempt to tell a webhook is over. */
  readonly attempted: (attempted: Attempted) => void;
  /** A try to study is over. */
  readonly studied: (outcome: StudyOutcome) => void;
}

export interface Work {
  /** Hands running turns back and stops. */
  close(): Promise<void>;
}

/** Everything a worker does: takes turns of lanes, refreshes summaries, and sweeps up what was missed. */
export async function startWork(
  given: EngineDeps,
  { connection, schedule, concurrency, takeOverMs, ...place }: Workplace,
): Promise<Work> {
  const { ledger, log } = given;
  const deps = { ...given, ...withSlots(given, concurrency), embedder: patient(given, concurrency) };
  await adoptIndex(deps);
  const followUps = await openFollowUps({ connection, log });
  const erasures = await openErasureQueue({ connection, log });
  const stopping = new AbortController();
  const nudge = (nudges: readonly Nudge[]): Promise<void> => schedule.nudge(nudges);
  const sweepLanes = laneSweep(deps, schedule);
  const webhooks = webhookDeliveries({ ...deps, ...place, stopping: stopping.signal });
  const old = (days: number, drop: Drop) => hourly(() => dropOld(deps, { days, drop, stopping: stopping.signal }));
  const sweeps: readonly (() => Promise<unknown>)[] = [
    webhooks.sweep,
    old(place.webhookDays, (before, limit) => ledger.webhooks.forget(before, limit)),
    old(place.auditDays, (before, limit) => ledger.trail.drop(before, limit)),
    sweepLanes,
    () => catchUp(deps, stopping.signal),
    () => sweepReplays({ ...deps, nudge }, stopping.signal),
    () => sweepErasures(deps, erasures),
    () => sweepStudies(deps, followUps),
    hourly(() => sweepRetention(deps, stopping.signal)),
  ];
  const sweeping = sweeps.map((sweep) => repeat(deps, stopping.signal, sweep));
  const turns = concurrency + Math.floor(concurrency / CALLS_PER_SPARE_TURN);
  const summaries = Math.ceil(concurrency / TURNS_PER_SUMMARY);
  const workers = [
    startTurnWorker({
      connection,
      concurrency: turns,
      takeOverMs,
      handler: takeTurn({ ...deps, followUps }),
      dueAt: turnDueAt(deps),
      log,
    }),
    startSummaryWorker({ connection, concurrency: summaries, takeOverMs, handler: refreshSummary(deps), log }),
    startStudyWorker({
      connection,
      concurrency: Math.ceil(concurrency / TURNS_PER_STUDY),
      takeOverMs,
      handler: studyLane({ ...deps, studied: place.studied, takeOverMs }),
      log,
    }),
    // One at a time: the next may be compacted together with it.
    startErasureWorker({
      connection,
      concurrency: 1,
      takeOverMs,
      handler: eraseOwner({ ...deps, queue: erasures }),
      log,
    }),
  ];
  return {
    close: async () => {
      stopping.abort();
      await Promise.all(workers.map((worker) => worker.close()));
      await Promise.all([followUps.close(), ...sweeping]);
      await webhooks.close();
      await erasures.close();
    },
  };
}

/** Turns and summaries ask the models together, so many times at a time. */
function withSlots({ chat, imageModel }: EngineDeps, count: number): Pick<EngineDeps, 'chat' | 'imageModel'> {
  const places = slots(count);
  return { chat: slottedChat(chat, places), imageModel: imageModel && slottedChat(imageModel, places) };
}

/**
 * Work leaves an embedder alone that says "too many", and asks it no more often at a time than it has places. Searches and
 * explicit writes, for which somebody waits, have none of these to wait for.
 */
function patient({ embedder, log }: EngineDeps, concurrency: number): Embedder {
  const limiter = memoryLimiter({ requestsPerMinute: null, tokensPerMinute: null });
  const places = slots(Math.ceil(concurrency / TURNS_PER_EMBEDDING));
  return slottedEmbedder(limitedEmbedder(embedder, { limiter, log }), places);
}

async function catchUp(deps: EngineDeps, stopping: AbortSignal): Promise<void> {
  while (!stopping.aborted && (await sweepOutbox(deps, stopping)) > 0);
}

/** Runs again and again until stopped; a failure is logged and does not end it. */
async function repeat({ log }: EngineDeps, stopping: AbortSignal, task: () => Promise<unknown>): Promise<void> {
  while (!stopping.aborted) {
    await task().catch((error: unknown) => {
      if (!stopping.aborted) log.warn({ error: String(error) }, 'a sweep failed; the next one is due in a second');
    });
    await sleep(SWEEP_MS, null, { signal: stopping }).catch(() => {});
  }
}

/** Does it the first time at once, then once an hour; after a failure again at once. */
function hourly(task: () => Promise<void>): () => Promise<void> {
  let next = 0;
  return async () => {
    if (performance.now() < next) return;
    await task();
    next = performance.now() + RETENTION_MS;
  };
}
