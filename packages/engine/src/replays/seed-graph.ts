import type { EngineDeps } from '../deps.ts';
import { foldRelations, inOrder, standingOf } from '../graph/fold.ts';
import { endsOf, renamed } from '../graph/follow.ts';
import { isStudied } from '../graph/study/is-studied.ts';
import { relationText, type Statement } from '../graph/words.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { LaneId, TenantId } from '../words.ts';
import { changedBatch, changesFrom } from './changes.ts';
import { type GraphInLife, graphInLife, selfIn } from './graph-in-life.ts';
import type { LaneInLife } from './lives.ts';
import { copyId, saidBefore, spaceOf } from './space.ts';

type Deps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'>;

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
export async function seedGraph(deps: Deps, seeding: Seeding): Promise<boolean> {
  const { replay, life, space, lane, goOn } = seeding;
  if (!(await isLaneStudied(deps, replay, life))) return true;
  const graph = await graphInLife(deps, life);
  await copyVectors(deps, seeding, graph);
  const copies = new Map(
    graph.entities.map(({ id, name, kind, self }) => [id, { id: copyId(id, replay.id), name, kind, self }]),
  );
  const statements = inOrder(graph.before).map((statement) => ({ statement, copy: copyOf(statement, replay.id) }));
  for (let at = 0; at < statements.length; at += SLICE) {
    if (!(await goOn())) return false;
    const slice = statements.slice(at, at + SLICE);
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
  { ledger }: Pick<Deps, 'ledger'>,
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
  { ledger, embedder, tools }: Deps,
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
  for (let at = 0; at < texts.length; at += SLICE) {
    const hashes = texts.slice(at, at + SLICE).map((text) => tools.hash(text));
    const vectors = await ledger.thoughts.vectors(life.lane, embedder.fingerprint, hashes);
    if (vectors.size > 0) await ledger.thoughts.storeVectors(lane, embedder.fingerprint, vectors);
  }
}
