import {
  type Around,
  compareSaid,
  type Entity,
  type GraphStore,
  inOrder,
  type KeptRelation,
  type LaneId,
  normaliseText,
  type OpenProposal,
  type Owner,
  type TenantId,
} from '@slowwave/engine';
import { endsOf, openProposals } from '@slowwave/engine/storing';
import type { EntityRow, RelationRow } from './memory-ledger-graph-rows.ts';
import { pageAscending } from './memory-ledger-page.ts';
import { rowOf, type State } from './memory-ledger-state.ts';
import { findLane } from './memory-ledger-turns.ts';

type Reads = Pick<
  GraphStore,
  | 'entities'
  | 'named'
  | 'self'
  | 'listEntities'
  | 'relation'
  | 'relations'
  | 'around'
  | 'listRelations'
  | 'statements'
  | 'proposals'
>;

export function graphReads(state: State): Reads {
  const { graph } = state;
  const entitiesOf = (lane: LaneId): EntityRow[] => [...graph.entities.values()].filter((one) => one.lane === lane);
  const relationsOf = (lane: LaneId | undefined): RelationRow[] =>
    [...graph.relations.values()].filter((one) => one.lane === lane && one.counts);
  const laneOf = (tenant: TenantId, owner: Owner): LaneId | undefined => findLane(state, tenant, owner)?.id;
  const relationsWith = (tenant: TenantId, ids: readonly string[]): KeptRelation[] =>
    [...new Set(ids)]
      .flatMap((id) => graph.relations.get(id) ?? [])
      .filter((row) => row.tenant === tenant && !isCutOff(state, row.lane))
      .map((row) => relationOf(state, row));
  return {
    entities: async (tenant, ids) =>
      [...new Set(ids)].flatMap((id) => graph.entities.get(id) ?? []).flatMap((one) => ownOf(state, tenant, one)),
    named: async (lane, names) => {
      const found = entitiesOf(lane).filter((one) => isShown(one) && namesOf(one).some((name) => names.includes(name)));
      return found.map(entityOf).sort(byId);
    },
    self: async (lane) =>
      entitiesOf(lane)
        .filter((one) => one.self)
        .map(entityOf)[0] ?? null,
    listEntities: async (...[tenant, owner, { like }, page]) => {
      const lane = laneOf(tenant, owner);
      const rows = lane === undefined ? [] : entitiesOf(lane).filter(isShown);
      const wanted = rows.filter((one) => like === undefined || namesOf(one).some((name) => name.includes(like)));
      return pageAscending(wanted.map(entityOf), (one) => [normaliseText(one.name), one.id], page);
    },
    relation: async (tenant, id) => relationsWith(tenant, [id])[0] ?? null,
    relations: async (tenant, ids) => relationsWith(tenant, ids),
    around: async (lane, around) =>
      relationsOf(lane)
        .filter((one) => [one.source, one.destination].some((id) => around.entities.includes(id)))
        .filter((one) => holdsAt(one, around.at))
        .sort(byWeight)
        .slice(0, around.limit)
        .map((row) => relationOf(state, row)),
    listRelations: async (...[tenant, owner, { at, relationship }, page]) => {
      const rows = relationsOf(laneOf(tenant, owner)).filter((one) => holdsAt(one, at));
      const wanted = rows.filter((one) => relationship === undefined || one.relationship === relationship);
      return pageAscending(
        wanted.map((row) => relationOf(state, row)),
        (one) => [one.validFrom, one.id],
        page,
      );
    },
    statements: async (lane, { entities }) => {
      const merged = entitiesOf(lane).filter(({ mergedInto }) => mergedInto !== null && entities.includes(mergedInto));
      const about = new Set([...entities, ...merged.map(({ id }) => id)]);
      const rows = [...graph.statements.values()].filter(
        (row) => row.lane === lane && !row.fallen && endsOf(row.statement).some((id) => about.has(id)),
      );
      const counts = new Map(rows.map((row) => [row.statement.id, row.counts]));
      return inOrder(rows.map(({ statement }) => statement)).map((statement) => ({
        statement,
        counts: counts.get(statement.id) === true,
      }));
    },
    proposals: async (tenant, owner) => proposalsOf(state, laneOf(tenant, owner)),
  };
}

export const isShown = ({ counts, mergedInto }: Entity): boolean => counts && mergedInto === null;

export const entityOf = ({ unprojectedAt: _, ...entity }: EntityRow): Entity => ({ ...entity });

export function relationOf(state: State, { unprojectedAt: _, ...row }: RelationRow): KeptRelation {
  const [source, destination] = [row.source, row.destination].map((id) => rowOf(state.graph.entities, id));
  const { owner } = rowOf(state.lanes, row.lane);
  return { ...row, owner, sourceName: source?.name ?? '', destinationName: destination?.name ?? '' };
}

export const isCutOff = (state: State, lane: LaneId): boolean => state.lanes.get(lane)?.erasure !== null;

const ownOf = (state: State, tenant: TenantId, row: EntityRow): Entity[] =>
  row.tenant === tenant && !isCutOff(state, row.lane) ? [entityOf(row)] : [];

const namesOf = ({ name, aliases }: Entity): string[] => [name, ...aliases].map(normaliseText);

function holdsAt({ validFrom, invalidAt }: RelationRow, at: Around['at']): boolean {
  if (at === 'ever') return true;
  if (at === null) return invalidAt === null;
  return validFrom <= at && (invalidAt === null || invalidAt > at);
}

const byId = (a: { readonly id: string }, b: { readonly id: string }): number => (a.id < b.id ? -1 : 1);

/** The most confirmed and newest first. */
const byWeight = (a: RelationRow, b: RelationRow): number =>
  b.confirmations - a.confirmations || compareSaid(b.saidAt, a.saidAt) || byId(a, b);

function proposalsOf(state: State, lane: LaneId | undefined): readonly OpenProposal[] {
  const { proposals, entities, statements } = state.graph;
  const proposed = proposals.filter(
    (one) => one.lane === lane && state.consolidations.get(one.consolidationId)?.state === 'applied',
  );
  const apart = [...statements.values()].flatMap(({ statement, counts, recordedAt }) =>
    counts && statement.kind === 'apart' ? [{ source: statement.source, recordedAt }] : [],
  );
  return openProposals(proposed, apart, new Map([...entities].map(([id, row]) => [id, entityOf(row)])));
}
