import type { EngineDeps } from '../deps.ts';
import { evolve, type Home, tombstoneOf } from '../memories/evolve.ts';
import { isHollow } from '../memories/former.ts';
import { textsOf } from '../memories/standing.ts';
import { textOfContent } from '../messages/reading.ts';
import type { Batch, NewBatch } from '../ports/ledger/batches.ts';
import type { MemoryChange } from '../ports/ledger/memories.ts';
import type { Life, Replay } from '../ports/ledger/replays.ts';
import { duePolicy } from '../settings.ts';
import { estimateTokens } from '../text/tokens.ts';
import { type LaneId, type Memory, type MemoryEvent, ownerOf, type TenantId } from '../words.ts';
import { asIfAll, type LaneInLife, livesBefore, messagesOf, seedGraph } from './lives.ts';
import { copyId, saidBefore, spaceOf } from './space.ts';
import { changedBatch, changedRules, changesFrom, type ReplayDeps } from './start.ts';

export type PrepareDeps = ReplayDeps & Pick<EngineDeps, 'embedder' | 'settings'>;

/** What held before the batches was removed by retention: their what-if can never be set up. */
export class RemovedError extends Error {
  constructor(memories: readonly string[]) {
    super(
      `what ${memories.length} memories said before these batches was removed by retention (history_days): ` +
        `${memories.slice(0, EXAMPLES).join(', ')}; ask for a what-if of later batches`,
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
  await ledger.settings.put(space, changedRules(rules, changesFrom(replay.changes)));
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
  details: event.details === null ? null : { ...event.details, sourceIds: [] },
  sourceIds: [],
  ...(event.retraction !== undefined && {
    retraction: { ...event.retraction, undoId: copyId(event.retraction.undoId, replay) },
  }),
});

/** What was embedded in life is not paid for again. */
async function copyVectors(
  { ledger, embedder, tools }: PrepareDeps,
  { life, lane }: Setup,
  memories: readonly Memory[],
): Promise<void> {
  const hashes = [...new Set(memories.flatMap(textsOf))].map((text) => tools.hash(text));
  const vectors = await ledger.thoughts.vectors(life.lane, embedder.fingerprint, hashes);
  await ledger.thoughts.storeVectors(lane, embedder.fingerprint, vectors);
}

async function copyBatch(deps: PrepareDeps, { replay, space }: Setup, batch: Batch): Promise<void> {
  const { ledger, settings, tools, nudge, log } = deps;
  const messages = await messagesOf(deps, batch);
  const copy: NewBatch = {
    id: copyId(batch.id, replay.id),
    tenant: space,
    scope: batch.scope,
    settings: changedBatch(batch.settings, changesFrom(replay.changes)),
    metadata: batch.metadata,
    messages: messages.map(({ id, clientId, role, content, name, saidAt, clock }) => ({
      ...{ id: copyId(id, replay.id), clientId, role, content, name, at: saidAt.at, ...(clock && { clock }) },
    })),
    tokens: messages.reduce((sum, { content }) => sum + estimateTokens(textOfContent(content)), 0),
    acceptedAt: tools.now(),
    flush: true,
    priority: 'backfill',
    idempotency: { key: batch.id, bodyHash: batch.id },
  };
  const appended = await ledger.batches.append(copy, duePolicy(await ledger.settings.get(space), settings.due));
  if (appended.kind !== 'stored' || appended.nudge === null) return;
  await nudge([appended.nudge]).catch((error: unknown) => {
    log.warn(
      { replay: replay.id, error: String(error) },
      'could not schedule a turn of a what-if replay; the sweep will do it',
    );
  });
}
