import type { EngineDeps } from '../deps.ts';
import { endsOf, foldRelations, inOrder, renamed, standingOf } from '../graph/fold.ts';
import { type Entity, relationText, type Statement } from '../graph/words.ts';
import { copyId, saidBefore, spaceOf } from '../ids.ts';
import { textHash } from '../models/embed.ts';
import type { Batch } from '../ports/ledger/lanes.ts';
import { allOf, PAGE, slicesOf } from '../ports/ledger/ledger.ts';
import type { Life, Replay } from '../ports/ledger/replays.ts';
import { portionsOf } from '../ports/tools.ts';
import { isStudied } from '../settings.ts';
import { type LaneId, type MemoryEvent, type Message, type Millis, ownerOf, type TenantId } from '../words.ts';
import { changedBatch, changesFrom } from './in-space.ts';

/** Memories that are read at a time. */
const LIVES = 100;

/** What the batches of one lane did in life, and what there was before the first of them. */
export interface LaneInLife {
  readonly lane: LaneId;
  /** In the order of the lane. */
  readonly batches: readonly Batch[];
  /** What was recorded before this moment was there before them. */
  readonly before: Millis;
  /** What they did, by event id. */
  readonly own: ReadonlyMap<string, MemoryEvent>;
}

/** The lanes of batches, each with what its batches did. `now` is the moment of a lane none of whose batches was ever applied. */
export async function lanesInLife(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  batches: readonly Batch[],
  now: Millis,
): Promise<readonly LaneInLife[]> {
  const lanes: LaneInLife[] = [];
  for (const [lane, group] of Map.groupBy(batches, (batch) => batch.lane)) {
    const own = new Map<string, MemoryEvent>();
    for (const { tenant, id } of group) {
      for (const event of await ledger.batches.events(tenant, id)) own.set(event.id, event);
    }
    const applied = group.flatMap(({ appliedAt }) => appliedAt ?? []);
    lanes.push({
      lane,
      batches: group.toSorted((a, b) => a.position - b.position),
      before: applied.length === 0 ? now : Math.min(...applied),
      own,
    });
  }
  return lanes;
}

/** The memories there were before the batches, page by page, with the events that had made them by then. */
export async function* livesBefore(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { lane, before, own }: LaneInLife,
): AsyncGenerator<readonly Life[]> {
  const read = (last: Life | null, limit: number) =>
    ledger.replays.lives(lane, before, { after: last?.memory.id ?? null, limit });
  for await (const page of slicesOf(read, LIVES))
    yield page
      .map(({ memory, events }) => ({ memory, events: events.filter((event) => !own.has(event.id)) }))
      .filter(({ events }) => saysAnything(events));
}

/** Without a text there never was a memory. */
export const saysAnything = (events: readonly MemoryEvent[]): boolean => events.some(({ text }) => text !== null);

/** Some of a memory's events as if they were all: numbered without gaps, and taking back nothing but one another. */
export function asIfAll(events: readonly MemoryEvent[]): readonly MemoryEvent[] {
  const numbers = new Map<number, number>();
  const kept: MemoryEvent[] = [];
  for (const event of events.toSorted((a, b) => a.revision - b.revision)) {
    const { retraction } = event;
    const retracts = retraction?.retracts.flatMap((number) => numbers.get(number) ?? []);
    if (retracts?.length === 0) continue;
    const revision = kept.length + 1;
    numbers.set(event.revision, revision);
    const taken = retraction === undefined || retracts === undefined ? {} : { retraction: { ...retraction, retracts } };
    kept.push({ ...event, revision, ...taken });
  }
  return kept;
}

/** The messages of a batch, as a turn of it alone would gather them. */
export async function messagesOf({ ledger }: Pick<EngineDeps, 'ledger'>, batch: Batch): Promise<readonly Message[]> {
  const turn = {
    ...{ tenant: batch.tenant, lane: batch.lane, owner: ownerOf(batch.scope), scope: batch.scope },
    ...{ settings: batch.settings, batchIds: [batch.id], consolidationId: batch.consolidationId ?? '' },
    ...{ variant: null, generation: 0, epoch: 0, attempts: 0, claimedAt: batch.acceptedAt },
  };
  return (await ledger.thoughts.gather(turn, 0)).messages;
}

type SeedDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>;

interface Seeding {
  readonly replay: Replay;
  readonly life: LaneInLife;
  readonly space: TenantId;
  readonly lane: LaneId;
  /** Asked before every piece of work; false ends it. */
  goOn(): Promise<boolean>;
}

/** Statements that are written, and folded, in one transaction: a few ten milliseconds. */
const SLICE = 100;

/** Copies the graph there was before the batches of a lane, where they will be studied. Answers whether it came to its end. */
export async function seedGraph(deps: SeedDeps, seeding: Seeding): Promise<boolean> {
  const { replay, life, space, lane, goOn } = seeding;
  if (!(await isLaneStudied(deps, replay, life))) return true;
  const graph = await graphInLife(deps, life);
  await copyVectors(deps, seeding, graph);
  const copies = new Map(
    graph.entities.map(({ id, name, kind, self }) => [id, { id: copyId(id, replay.id), name, kind, self }]),
  );
  const statements = inOrder(graph.before).map((statement) => ({ statement, copy: copyOf(statement, replay.id) }));
  for (const slice of portionsOf(statements, SLICE)) {
    if (!(await goOn())) return false;
    const ends = new Set(slice.flatMap(({ statement }) => endsOf(statement)));
    const entities = [...ends].flatMap((id) => copies.get(id) ?? []);
    const change = { entities, statements: slice.map(({ copy }) => copy), now: deps.tools.now() };
    // A conflict: whose it is is being erased, or the what-if is discarded. It comes to its end without.
    if ((await deps.ledger.graph.write(space, lane, change)).kind === 'conflict') return true;
  }
  return true;
}

/** Whether any of the copies of a lane's batches is studied in the space. */
export async function isLaneStudied(
  { ledger }: Pick<SeedDeps, 'ledger'>,
  replay: Replay,
  { batches }: LaneInLife,
): Promise<boolean> {
  const rules = await ledger.settings.get(spaceOf({ tenant: replay.tenant, replay: replay.id }));
  const changes = changesFrom(replay.changes);
  return batches.some((batch) => isStudied({ settings: changedBatch(batch.settings, changes) }, rules));
}

/** It names no messages and memories: those that it came from are not in the space. No study there takes it back. */
const copyOf = (statement: Statement, replay: string): Statement => ({
  ...renamed(statement, (id) => copyId(id, replay)),
  ...{ id: copyId(statement.id, replay), saidAt: saidBefore(statement.saidAt), consolidationId: null },
  ...{ messageIds: [], memoryIds: [] },
});

/** What was embedded in life is not paid for again: names, and what relations say. */
async function copyVectors(
  { ledger, embedder, tools }: SeedDeps,
  { life, lane }: Seeding,
  { before, entities }: GraphInLife,
): Promise<void> {
  const names = new Map(entities.map(({ id, name }) => [id, name]));
  const nameOf = (id: string): string => names.get(id) ?? '';
  const relations = foldRelations(before, standingOf(before, selfIn({ entities }))).map(
    ({ source, relationship, destination }) =>
      relationText({ sourceName: nameOf(source), relationship, destinationName: nameOf(destination) }),
  );
  const texts = [...new Set([...entities.flatMap(({ name, aliases }) => [name, ...aliases]), ...relations])];
  for (const part of portionsOf(texts, SLICE)) {
    const hashes = part.map((text) => textHash(tools, text));
    const vectors = await ledger.thoughts.vectors(life.lane, embedder.fingerprint, hashes);
    if (vectors.size > 0) await ledger.thoughts.storeVectors(lane, embedder.fingerprint, vectors);
  }
}

/** What was said about the graph of one lane in life. */
export interface GraphInLife {
  /** What counted before the batches, whoever said it, in no order. */
  readonly before: readonly Statement[];
  /** What was learned from the batches, undone since or not. */
  readonly own: readonly Statement[];
  /** Whom these are about. */
  readonly entities: readonly Entity[];
}

type Deps = Pick<EngineDeps, 'ledger'>;

/** The statements before the batches of a lane, and their own. What others said since is on neither side. */
export async function graphInLife(deps: Deps, life: LaneInLife): Promise<GraphInLife> {
  const [first] = life.batches;
  if (first === undefined) return { before: [], own: [], entities: [] };
  const ids = new Set(life.batches.flatMap(({ consolidationId }) => consolidationId ?? []));
  const learned = await learnedFrom(deps, first, ids);
  const wasBefore = beforeIn(deps, life, first);
  const [before, own]: [Statement[], Map<string, Statement>] = [[], new Map(learned.map((one) => [one.id, one]))];
  const isOwn = await ownIn(deps, life.batches, ids);
  for (const { statement, counts } of await saidIn(deps, life, first)) {
    // As it is kept: where two studies made the owner's entity, one of them is kept.
    if (ids.has(statement.consolidationId ?? '')) own.set(statement.id, statement);
    else if (counts && (await wasBefore(statement))) before.push(statement);
  }
  const kept = [...own.values()].filter(isOwn);
  const about = [...new Set([...before, ...kept].flatMap(endsOf))];
  return { before, own: kept, entities: await deps.ledger.graph.entities(first.tenant, about) };
}

/** The owner's own entity; null: nothing was said of it. */
export const selfIn = ({ entities }: Pick<GraphInLife, 'entities'>): string | null =>
  entities.find(({ self }) => self)?.id ?? null;

/** By the plans of their studies: what counts no longer is listed by nothing else. */
async function learnedFrom({ ledger }: Deps, { tenant }: Batch, ids: ReadonlySet<string>) {
  const learned: Statement[] = [];
  for (const id of ids) {
    learned.push(...((await ledger.graph.study(tenant, id))?.plan?.statements ?? []));
  }
  return learned;
}

/** Everything that was said of whom the graph shows, each once. */
async function saidIn({ ledger: { graph } }: Deps, { lane }: LaneInLife, { tenant, scope }: Batch) {
  const said = new Map<string, { readonly statement: Statement; readonly counts: boolean }>();
  const owner = ownerOf(scope);
  const shown = (await allOf((page) => graph.listEntities(tenant, owner, {}, page))).map(({ id }) => id);
  for (const entities of portionsOf(shown, PAGE)) {
    for (const one of await graph.statements(lane, { entities })) said.set(one.statement.id, one);
  }
  return [...said.values()];
}

/** Whether something was said before the batches: studies come later than what they study. */
function beforeIn({ ledger }: Deps, { before }: LaneInLife, { tenant }: Batch) {
  const known = new Map<string, Promise<boolean>>();
  const appliedBefore = async (id: string): Promise<boolean> => {
    const applied = (await ledger.thoughts.get(tenant, id))?.appliedAt ?? null;
    return applied !== null && applied < before;
  };
  return async ({ recordedAt, consolidationId }: Statement): Promise<boolean> => {
    if (recordedAt < before || consolidationId === null) return recordedAt < before;
    const asked = known.get(consolidationId) ?? appliedBefore(consolidationId);
    known.set(consolidationId, asked);
    return asked;
  };
}

/** Whether a statement is of these batches: others may have been consolidated together with them. */
async function ownIn(deps: Deps, batches: readonly Batch[], ids: ReadonlySet<string>) {
  const messages = new Set<string>();
  const asked = new Set(batches.map(({ id }) => id));
  const shared = new Set<string>();
  for (const batch of batches) {
    for (const { id } of await messagesOf(deps, batch)) messages.add(id);
    const { tenant, consolidationId } = batch;
    if (consolidationId === null || shared.has(consolidationId)) continue;
    const consolidation = await deps.ledger.thoughts.get(tenant, consolidationId);
    if (consolidation?.batchIds.some((id) => !asked.has(id))) shared.add(consolidationId);
  }
  return ({ consolidationId, messageIds }: Statement): boolean =>
    ids.has(consolidationId ?? '') && (!shared.has(consolidationId ?? '') || messageIds.some((id) => messages.has(id)));
}
