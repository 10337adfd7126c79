import type { GraphPlan, LaneId, NewEntity, Statement, Study, Turn } from '@slowwave/engine';
import { scope, user } from './builders.ts';
import { newEntity } from './graph-statements.ts';
import { ANN, apply, type Bench, expectKind, nextTurn, store, TENANT } from './ledger-bench.ts';

/** Longer than any study of a test takes. */
export const HOLD_MS = 60_000;

/** The lane of an owner, made if missing. */
export const graphLane = (b: Bench, owner = ANN): Promise<LaneId> =>
  b.ledger.memories.laneOf(TENANT, owner, b.tools.now());

/** Writes statements as a caller of the API does; the entities that they name are made by their names. */
export const say = (b: Bench, lane: LaneId, statements: readonly Statement[]): Promise<void> =>
  sayOf(b, lane, { entities: namedIn(statements), statements });

/** The same with entities that are given. */
export async function sayOf(
  b: Bench,
  lane: LaneId,
  change: { readonly entities: readonly NewEntity[]; readonly statements: readonly Statement[] },
): Promise<void> {
  expectKind(await b.ledger.graph.write(TENANT, lane, { ...change, now: b.tools.now() }), 'written');
}

/** A consolidation of a user, applied, that asks for a study. */
export async function toStudy(b: Bench, userId = 'ann'): Promise<Turn> {
  await store(b, { scope: scope({ userId }) });
  const turn = await nextTurn(b, { owner: user(userId) });
  await apply(b, turn, { graph: true });
  return turn;
}

export const claimStudy = (b: Bench, lane: LaneId, now = b.tools.now()) =>
  b.ledger.graph.claim(lane, { now, holdMs: HOLD_MS });

export const heldStudy = async (b: Bench, lane: LaneId): Promise<Study> =>
  expectKind(await claimStudy(b, lane), 'claimed').study;

export const graphPlan = (
  consolidationId: string,
  statements: readonly Statement[],
  given: Partial<GraphPlan> = {},
): GraphPlan => ({
  consolidationId,
  entities: namedIn(statements),
  statements: statements.map((statement) => ({ ...statement, consolidationId })),
  proposals: [],
  remarks: [],
  prompts: [],
  usage: {},
  ...given,
});

/** An applied consolidation whose study said these statements. */
export async function studied(b: Bench, statements: readonly Statement[], userId = 'ann'): Promise<Turn> {
  const turn = await toStudy(b, userId);
  const study = await heldStudy(b, turn.lane);
  const plan = graphPlan(study.consolidationId, statements);
  expectKind(await b.ledger.graph.apply(study, plan, b.tools.now()), 'applied');
  return turn;
}

export const namedIn = (statements: readonly Statement[]): NewEntity[] => {
  const ids = statements.flatMap((one) => ('destination' in one ? [one.source, one.destination] : [one.source]));
  return [...new Set(ids)].map((id) => newEntity(id));
};

/** All that counts of a lane, as texts, in the order in which it began. */
export async function relationsOf(b: Bench, lane: LaneId): Promise<string[]> {
  const owner = (await b.ledger.lanes.get(lane))?.owner ?? ANN;
  const { results } = await b.ledger.graph.listRelations(TENANT, owner, { at: 'ever' }, PAGE);
  return results.map(
    ({ sourceName, relationship, destinationName, invalidAt }) =>
      `${sourceName} ${relationship} ${destinationName}${invalidAt === null ? '' : ' (over)'}`,
  );
}

const PAGE = { limit: 1_000, cursor: null };
