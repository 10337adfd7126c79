import {
  type LaneId,
  type Millis,
  type Statement,
  type Tools,
  type Undo,
  type Undoing,
  undoneBy,
  undosInEffect,
} from '@slowwave/engine';
import { bitsOf } from './builders.ts';
import { namedIn, say, studied } from './graph-bench.ts';
import { statementsBy } from './graph-statements.ts';
import { ANN, type Bench, expectKind, SECOND, TENANT } from './ledger-bench.ts';
import { pick, seeded } from './worlds.ts';

const NAMES = ['A', 'B', 'C', 'D', 'E'];
const RELATIONSHIPS = ['lives_in', 'likes', 'knows'];
const SINGLE = 'lives_in';
const STEPS = 25;
const PAGE = { limit: 1_000, cursor: null };

type Random = () => number;

/** Statements of every kind about few entities: they often meet. */
export function anyStatements(tools: Tools, { random, count }: { random: Random; count: number }): Statement[] {
  const says = statementsBy(tools);
  const moment = (): Millis => tools.now() - Math.floor(random() * 5) * SECOND;
  return Array.from({ length: count }, (): Statement => {
    const [source, destination, relationship] = [pick(NAMES, random), pick(NAMES, random), pick(RELATIONSHIPS, random)];
    const text = `${source} ${relationship} ${destination}`;
    const saidAt = { at: moment(), seq: Math.floor(random() * 3) };
    const dice = random();
    if (dice < 0.1) return says.same(source, destination, { saidAt });
    if (dice < 0.15) return says.apart(source, { saidAt });
    if (dice < 0.25) return says.named(source, `${source} ${Math.floor(random() * 3)}`, { saidAt });
    if (dice < 0.35) return says.ended(text, { saidAt, at: moment() });
    if (dice < 0.4) return says.denied(text, { saidAt });
    const until = random() < 0.1 ? tools.now() : null;
    return says.holds(text, { saidAt, until, validFrom: moment(), single: relationship === SINGLE });
  });
}

/** Everything that is kept of a graph, as a ledger shows it. */
export type Snapshot = readonly object[];

interface Walk {
  readonly b: Bench;
  readonly random: Random;
  readonly statements: Statement[];
  readonly times: Millis[];
  lane: LaneId | null;
}

/**
 * A random life of a graph: studies, explicit writes, undos, redos and rollbacks. The same seed makes the same one on
 * every ledger. Answers with what was kept after each step; `onRedone` is given what there was before an undo and after it was taken back.
 */
export async function walkGraph(
  b: Bench,
  seed: number,
  onRedone: (before: Snapshot, after: Snapshot) => void,
): Promise<readonly Snapshot[]> {
  const walk: Walk = { b, random: seeded(seed), statements: [], times: [], lane: null };
  const snapshots: Snapshot[] = [];
  for (let i = 0; i < STEPS; i += 1) {
    b.tools.advance(SECOND);
    walk.times.push(b.tools.now());
    b.tools.advance(SECOND);
    await step(walk, onRedone);
    snapshots.push(await snapshotOf(walk));
  }
  return snapshots;
}

async function step(walk: Walk, onRedone: (before: Snapshot, after: Snapshot) => void): Promise<void> {
  const { b, random, lane } = walk;
  const dice = random();
  if (lane === null || dice < 0.35) {
    walk.lane = (await studied(b, spoken(walk))).lane;
  } else if (dice < 0.6) await say(b, lane, spoken(walk));
  else if (dice < 0.7) await projectSome(walk);
  else await takeBack(walk, onRedone);
}

function spoken(walk: Walk): Statement[] {
  const { b, random } = walk;
  const statements = anyStatements(b.tools, { random, count: 1 + Math.floor(random() * 4) });
  walk.statements.push(...statements);
  return statements;
}

async function projectSome({ b, random }: Walk): Promise<void> {
  const items = await b.ledger.graph.unprojected(1 + Math.floor(random() * 8));
  await b.ledger.graph.projected(
    items.map((one) => {
      const { id, revision } = one.kind === 'entity' ? one.entity : one.relation;
      return { kind: one.kind, id, revision };
    }),
  );
}

async function takeBack(walk: Walk, onRedone: (before: Snapshot, after: Snapshot) => void): Promise<void> {
  const { b, random, lane } = walk;
  if (lane === null) return;
  const earlier = await b.ledger.undos.ofLane(lane);
  const before = await snapshotOf(walk);
  const one = await undoAnything(walk, lane, earlier);
  if (one === null || random() < 0.5) return;
  b.tools.advance(SECOND);
  await undoNow(b, { lane, earlier: [...earlier, one] }, { kind: 'redo', undos: [one.id] });
  onRedone(withoutChange(before), withoutChange(await snapshotOf(walk)));
}

/** null: there was nothing to take back. */
async function undoAnything(walk: Walk, lane: LaneId, earlier: readonly Undo[]): Promise<Undo | null> {
  const { b, random, times } = walk;
  const dice = random();
  const standing = undosInEffect(earlier).filter(({ kind }) => kind !== 'redo');
  if (dice < 0.3 && standing.length > 0) {
    return undoNow(b, { lane, earlier }, { kind: 'redo', undos: [pick(standing, random).id] });
  }
  if (dice < 0.6) {
    const to = pick(times, random);
    const consolidations = await b.ledger.undos.appliedAfter(lane, to);
    const undos = earlier.filter(({ at }) => at > to).map(({ id }) => id);
    return undoNow(b, { lane, earlier }, { kind: 'rollback', to, consolidations, undos });
  }
  const { results } = await b.ledger.thoughts.list(TENANT, { state: 'applied' }, PAGE);
  if (results.length === 0) return null;
  return undoNow(b, { lane, earlier }, { kind: 'undo', consolidations: [pick(results, random).id] });
}

async function undoNow(
  b: Bench,
  { lane, earlier }: { lane: LaneId; earlier: readonly Undo[] },
  given: Partial<Undo>,
): Promise<Undo> {
  const undo: Undo = {
    id: b.tools.id('und', bitsOf(b.tools)),
    ...{ tenant: TENANT, lane, owner: ANN, number: earlier.length + 1, kind: 'undo', to: null },
    ...{ consolidations: [], undos: [], memories: 0, at: b.tools.now() },
    ...given,
  };
  const [before, after] = [undoneBy(earlier), undoneBy([...earlier, undo])];
  const undoing: Undoing = {
    ...{ undo, changes: [], tombstones: [] },
    undone: [...after].filter((id) => !before.has(id)),
    redone: [...before].filter((id) => !after.has(id)),
  };
  expectKind(await b.ledger.undos.write(TENANT, undoing), 'written');
  return undo;
}

/** Without what every ledger names for itself. */
async function snapshotOf({ b, statements, lane }: Walk): Promise<Snapshot> {
  const { graph } = b.ledger;
  if (lane === null) return [];
  const ids = namedIn(statements).map(({ id }) => id);
  const entities = (await graph.entities(TENANT, ids)).toSorted((x, y) => (x.id < y.id ? -1 : 1));
  const relations = await Promise.all(statements.map(({ id }) => graph.relation(TENANT, id)));
  const around = await graph.around(lane, { entities: ids, at: null, limit: 20 });
  const unprojected = await graph.unprojectedOf(lane, 100);
  const said = await graph.statements(lane, { entities: ids });
  const rows = [...entities, ...relations.filter((one) => one !== null)].map(({ lane: _, ...row }) => row);
  const projected = unprojected.map((one) => (one.kind === 'entity' ? one.entity.id : one.relation.id));
  return [
    ...rows,
    { around: around.map(({ id }) => id), projected, counts: said.map((one) => `${one.statement.id} ${one.counts}`) },
  ];
}

/** What an undo and its redo leave as it was: not how often something changed, what was projected, or what it was once. */
function withoutChange(snapshot: Snapshot): Snapshot {
  return snapshot
    .filter((row) => !('relationship' in row && 'counts' in row && row.counts === false))
    .map((row) => {
      const {
        revision: _,
        updatedAt: __,
        projected: ___,
        ...rest
      } = { revision: 0, updatedAt: 0, projected: [], ...row };
      return rest;
    });
}
