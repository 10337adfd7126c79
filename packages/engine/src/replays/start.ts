import type { EngineDeps } from '../deps.ts';
import { copyId, saidBefore, spaceOf } from '../ids.ts';
import { evolve, type Home, tombstoneOf } from '../memories/evolve.ts';
import { isHollow } from '../memories/former.ts';
import { textOfContent } from '../messages/messages.ts';
import { textHash } from '../models/embed.ts';
import type { Batch, NewBatch } from '../ports/ledger/lanes.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { Life, Replay, ReplayFilter } from '../ports/ledger/replays.ts';
import type { Nudge } from '../ports/schedule.ts';
import type { Cancellation } from '../ports/tools.ts';
import { textsOf } from '../projection/make-points.ts';
import { duePolicy } from '../settings.ts';
import { canonical, estimateTokens } from '../text/normalise.ts';
import {
  type BatchState,
  type LaneId,
  type Memory,
  type MemoryEvent,
  ownerOf,
  type Retraction,
  type TenantId,
  type VersionDetails,
} from '../words.ts';
import { changedBatch, changedRules, changesFrom, storedChanges, type WhatIfChanges } from './in-space.ts';
import { asIfAll, type LaneInLife, livesBefore, messagesOf, seedGraph } from './lives.ts';

export interface ReplayDeps extends Pick<EngineDeps, 'ledger' | 'tools' | 'log'> {
  /** Schedules turns of lanes; a sweep finds what was not scheduled. */
  nudge(nudges: readonly Nudge[]): Promise<void>;
  /** Failed turns of these lanes are over: nobody needs to be shown them any more. */
  forgetFailed(lanes: readonly LaneId[]): Promise<void>;
}

interface AskedReplay {
  readonly tenant: TenantId;
  readonly filter: ReplayFilter;
  /** null: parked and undone batches are consolidated again; else past ones are, in a shadow space, with these changes. */
  readonly changes: WhatIfChanges | null;
  /** The idempotency key; null: none. */
  readonly key: string | null;
}

type StartedReplay =
  | { readonly kind: 'started' | 'repeated'; readonly replay: Replay }
  /** The key came before with another body. */
  | { readonly kind: 'conflict' }
  /** Retention has removed the messages of these batches, or, for a what-if, what they did. */
  | { readonly kind: 'removed'; readonly batchIds: readonly string[] }
  /** More batches than one what-if takes. */
  | { readonly kind: 'too_many'; readonly matched: number; readonly most: number };

/** Longer than a replay is silent while it is worked on; a worker that dies in the middle keeps others away so long. */
export const LEASE_MS = 10_000;

/** Batches one what-if takes: an evening's worth of reading, and next to nothing beside the work of a day. */
export const WHAT_IF_MAX = 500;

/**
 * Parked batches are tried again, undone ones consolidated again, or past ones in a space of their own. The first slice of
 * them waits again when this resolves, so that small replays need nobody else; the sweep of the workers goes on with the rest.
 */
export async function startReplay(deps: ReplayDeps, asked: AskedReplay): Promise<StartedReplay> {
  const { ledger, tools } = deps;
  const { tenant, filter, changes, key } = asked;
  const id = tools.id('rpl');
  const { matched, batches } = await ledger.replays.match(tenant, filter, changes === null ? 0 : WHAT_IF_MAX);
  if (changes !== null && matched > WHAT_IF_MAX) return { kind: 'too_many', matched, most: WHAT_IF_MAX };
  const removed = changes === null ? await emptied(deps, tenant, filter) : await removedOf(deps, tenant, batches);
  if (removed.length > 0) return { kind: 'removed', batchIds: removed };
  const created = await ledger.replays.create({
    ...{ id, tenant, kind: changes === null ? 'live' : 'what_if', filter, matched, now: tools.now() },
    changes: storedChanges(changes ?? {}),
    batchIds: batches.map((batch) => batch.id),
    idempotency: key === null ? null : { key, bodyHash: tools.hash(canonical([filter, changes])) },
  });
  if (created.kind === 'conflict') return created;
  if (created.kind === 'repeated') return { kind: 'repeated', replay: await stored(deps, tenant, created.id) };
  if (changes === null) await putBack(deps, id);
  return { kind: 'started', replay: await stored(deps, tenant, id) };
}

/** Undone batches that somebody names, and of which retention has left nothing to consolidate. Others that match stay undone. */
async function emptied(
  { ledger }: ReplayDeps,
  tenant: TenantId,
  { states, ids }: ReplayFilter,
): Promise<readonly string[]> {
  return ids !== undefined && states.includes('undone') ? ledger.retention.withoutMessages(tenant, ids) : [];
}

/** Batches of which retention has removed the messages, or what is remembered of them. */
async function removedOf({ ledger }: ReplayDeps, tenant: TenantId, batches: readonly Batch[]): Promise<string[]> {
  const ids = batches.map(({ id }) => id);
  const removed = new Set(await ledger.retention.withoutMessages(tenant, ids));
  for (const id of ids) {
    if (removed.has(id)) continue;
    const events = await ledger.batches.events(tenant, id);
    if (events.some(({ details }) => details?.removed !== undefined)) removed.add(id);
  }
  return ids.filter((id) => removed.has(id));
}

async function stored({ ledger }: ReplayDeps, tenant: TenantId, id: string): Promise<Replay> {
  const replay = await ledger.replays.get(tenant, id);
  if (replay === null) throw new Error(`replay ${id} is missing right after it was stored`);
  return replay;
}

/** Batches that wait again in one transaction: a few ten milliseconds, so that others can write in between. */
const SLICE = 250;
/** How often it is looked whether the batches of a replay are through. */
const LOOK_AGAIN_MS = 2_000;

/** What a worker does with a live replay that is due. */
export async function workLive(deps: ReplayDeps, replay: Replay, cancel: Cancellation): Promise<void> {
  if (replay.state === 'preparing') {
    while (!cancel.aborted && (await putBack(deps, replay.id)));
  }
  await lookWhether(deps, replay.id);
}

/** One slice of its batches waits again. Answers whether there is more. */
async function putBack({ ledger, tools, log, nudge, forgetFailed }: ReplayDeps, id: string): Promise<boolean> {
  const { replayed, nudges, cleared, more } = await ledger.replays.advance(id, { limit: SLICE, now: tools.now() });
  if (replayed.length > 0)
    log.info({ replay: id, batches: replayed.length, more }, 'replayed batches are waiting again');
  nudge(nudges).catch((error: unknown) => {
    log.warn({ error: String(error), turns: nudges.length }, 'could not schedule replayed turns; the sweep will do it');
  });
  forgetFailed(cleared).catch((error: unknown) => {
    log.warn({ error: String(error), lanes: cleared.length }, 'turns that failed before a replay are still shown');
  });
  return more;
}

/** Whether it is done: none of its batches waits any more, or is worked on. */
async function lookWhether({ ledger, tools, log }: ReplayDeps, id: string): Promise<void> {
  const states = await ledger.replays.states(id);
  const now = tools.now();
  if (isOpen(states)) {
    await ledger.replays.move(id, { from: 'running', to: 'running', dueAt: now + LOOK_AGAIN_MS });
  } else if (await ledger.replays.move(id, { from: 'running', to: 'done', dueAt: null, finishedAt: now })) {
    log.info({ replay: id, batches: states }, 'a replay is done');
  }
}

const isOpen = ({ pending = 0, consolidating = 0 }: Readonly<Partial<Record<BatchState, number>>>): boolean =>
  pending + consolidating > 0;

export type PrepareDeps = ReplayDeps & Pick<EngineDeps, 'embedder' | 'settings'>;

/** What held before the batches was removed by retention: their what-if can never be set up. */
export class RemovedError extends Error {
  constructor(memories: readonly string[]) {
    super(
      `what ${memories.length} memories said before these batches was removed by retention (history_days, forgotten_days): ` +
        `${memories.slice(0, EXAMPLES).join(', ')}; request a what-if of later batches`,
    );
    this.name = 'RemovedError';
  }
}

/** Memories an error names. */
const EXAMPLES = 5;

/** A lane of a what-if that is being set up. */
interface Setup {
  readonly replay: Replay;
  readonly life: LaneInLife;
  readonly space: TenantId;
  readonly lane: LaneId;
}

/** What the tenant has chosen, with the changes: for all lanes of the space. */
export async function prepareRules({ ledger }: PrepareDeps, replay: Replay): Promise<void> {
  const rules = await ledger.settings.get(replay.tenant);
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  // Nothing waits for a person in a space that nobody lives in.
  await ledger.settings.put(space, { ...changedRules(rules, changesFrom(replay.changes)), review: [] });
}

/**
 * Copies one lane into the space: first its memories as they were before its batches, then the batches, which are due at
 * once. All of it can be done again: what is there already is left as it is. Answers whether it came to its end.
 */
export async function prepareLane(deps: PrepareDeps, { replay, life, goOn }: Preparing): Promise<boolean> {
  const { ledger, tools } = deps;
  const [first] = life.batches;
  if (first === undefined) return true;
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  const owner = ownerOf(first.scope);
  const setup: Setup = { replay, life, space, lane: await ledger.memories.laneOf(space, owner, tools.now()) };
  for await (const page of livesBefore(deps, life)) {
    if (!(await goOn())) return false;
    await seed(deps, setup, page);
  }
  if (!(await seedGraph(deps, { ...setup, goOn }))) return false;
  for (const batch of life.batches) {
    if (!(await goOn())) return false;
    await copyBatch(deps, setup, batch);
  }
  return true;
}

interface Preparing {
  readonly replay: Replay;
  readonly life: LaneInLife;
  /** Asked before every piece of work; false ends it. */
  goOn(): Promise<boolean>;
}

async function seed(deps: PrepareDeps, setup: Setup, page: readonly Life[]): Promise<void> {
  const { ledger, tools } = deps;
  const all = page.map((one) => seedOf(setup, one));
  const hollow = all.filter(({ memory }) => isHollow(memory)).map(({ memory }) => memory.id);
  if (hollow.length > 0) throw new RemovedError(hollow);
  const known = await ledger.memories.many(
    setup.space,
    all.map(({ memory }) => memory.id),
  );
  const there = new Set(known.map(({ id }) => id));
  const changes = all.filter(({ memory }) => !there.has(memory.id));
  if (changes.length === 0) return;
  await copyVectors(
    deps,
    setup,
    changes.map(({ memory }) => memory),
  );
  const tombstones = changes.flatMap(({ events }) => events.flatMap((event) => tombstoneOf(tools, event)));
  const written = await ledger.memories.write(setup.space, { changes, tombstones, now: tools.now() });
  if (written.kind === 'conflict')
    throw new Error(`replay ${setup.replay.id} is being set up by another worker as well`);
}

/** A memory as its events had made it, as a memory of the space. */
function seedOf({ replay, space, lane }: Setup, { memory, events }: Life): MemoryChange {
  const copies = asIfAll(events).map((event) => eventOf(event, replay.id));
  const home: Home = { tenant: space, lane, owner: memory.owner, scope: memory.scope };
  return { memory: evolve(home, null, copies), expectedRevision: 0, events: copies };
}

/** It names no messages: those that it came from are not in the space. */
const eventOf = (event: MemoryEvent, replay: string): MemoryEvent => ({
  ...event,
  id: copyId(event.id, replay),
  memoryId: copyId(event.memoryId, replay),
  consolidationId: null,
  saidAt: saidBefore(event.saidAt),
  details: event.details === null ? null : { ...event.details, ...restingOn(event.details, replay), sourceIds: [] },
  sourceIds: [],
  ...(event.retraction !== undefined && { retraction: copyOf(event.retraction, replay) }),
});

const copyOf = ({ undoId, retracts }: Retraction, replay: string): Retraction => ({
  undoId: undoId === null ? null : copyId(undoId, replay),
  retracts,
});

/** A conclusion rests on the copies of what it rests on in life. */
function restingOn({ concluded }: VersionDetails, replay: string): Pick<VersionDetails, 'concluded'> {
  if (concluded === undefined) return {};
  const from = concluded.from.map((piece) => ({ ...piece, memoryId: copyId(piece.memoryId, replay) }));
  return { concluded: { ...concluded, from } };
}

/** What was embedded in life is not paid for again. */
async function copyVectors(
  { ledger, embedder, tools }: PrepareDeps,
  { life, lane }: Setup,
  memories: readonly Memory[],
): Promise<void> {
  const hashes = [...new Set(memories.flatMap(textsOf))].map((text) => textHash(tools, text));
  const vectors = await ledger.thoughts.vectors(life.lane, embedder.fingerprint, hashes);
  await ledger.thoughts.storeVectors(lane, embedder.fingerprint, vectors);
}

async function copyBatch(deps: PrepareDeps, { replay, space }: Setup, batch: Batch): Promise<void> {
  const messages = await messagesOf(deps, batch);
  const { id, scope, metadata } = batch;
  await appendCopy(
    deps,
    { replay, space },
    {
      ...{ id, scope, metadata, settings: changedBatch(batch.settings, changesFrom(replay.changes)) },
      messages: messages.map(({ id: message, clientId, role, content, name, trust, saidAt, clock }) => ({
        ...{ id: message, clientId, role, content, name, at: saidAt.at, ...(clock && { clock }) },
        ...(trust !== undefined && { trust }),
      })),
    },
  );
}

/** What was said once, to be consolidated in a space as well: due at once, behind what is said live. */
export async function appendCopy(
  deps: PrepareDeps,
  { replay, space }: { readonly replay: Replay; readonly space: TenantId },
  said: Pick<NewBatch, 'id' | 'scope' | 'settings' | 'metadata' | 'messages'>,
): Promise<void> {
  const { ledger, settings, tools, nudge, log } = deps;
  const copy: NewBatch = {
    ...said,
    id: copyId(said.id, replay.id),
    tenant: space,
    messages: said.messages.map((message) => ({ ...message, id: copyId(message.id, replay.id) })),
    tokens: said.messages.reduce((sum, { content }) => sum + estimateTokens(textOfContent(content)), 0),
    acceptedAt: tools.now(),
    flush: true,
    priority: 'backfill',
    idempotency: { key: said.id, bodyHash: said.id },
  };
  const appended = await ledger.batches.append(copy, duePolicy(await ledger.settings.get(space), settings.due));
  if (appended.kind !== 'stored' || appended.nudge === null) return;
  await nudge([appended.nudge]).catch((error: unknown) => {
    log.warn(
      { replay: replay.id, error: String(error) },
      'could not schedule a turn of a shadow space; the sweep will do it',
    );
  });
}
