import type { EngineDeps } from '../deps.ts';
import { endsOf, graphOf } from '../graph/fold.ts';
import { type Entity, type Relation, relationText, type Statement } from '../graph/words.ts';
import type { Fall } from '../ports/writers.ts';
import type { LaneId, Memory, TenantId } from '../words.ts';

/** What falls with a memory that is forgotten, and what stays although it leans on the same. Reads only. */
export async function fallOf({ ledger }: Pick<EngineDeps, 'ledger'>, { tenant, lane, id }: Memory): Promise<Fall> {
  const { messages, statements } = await ledger.memories.leaning(lane, id);
  const summaries = (await ledger.contents.summaries(lane)).length;
  return { messages, ...(await fallInGraph(ledger, { tenant, lane, falling: statements })), summaries };
}

interface Falling {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly falling: readonly Statement[];
}

type InGraph = Pick<Fall, 'relations' | 'weakened' | 'entities'>;

/** The part of the graph that the statements are about, folded with them and without. */
async function fallInGraph(ledger: EngineDeps['ledger'], { tenant, lane, falling }: Falling): Promise<InGraph> {
  if (falling.length === 0) return { relations: [], weakened: [], entities: [] };
  const ends = [...new Set(falling.flatMap(endsOf))];
  const counting = (await ledger.graph.statements(lane, { entities: ends })).filter(({ counts }) => counts);
  const all = counting.map(({ statement }) => statement);
  const gone = new Set(falling.map(({ id }) => id));
  const left = all.filter(({ id }) => !gone.has(id));
  const entities = await ledger.graph.entities(tenant, [...new Set(all.flatMap(endsOf))]);
  const self = entities.find((entity) => entity.self)?.id ?? null;
  const [before, after] = [graphOf(entities, all, self), graphOf(entities, left, self)];
  const kept = new Map(after.relations.map((relation) => [endsText(relation), relation]));
  const named = new Map(entities.map((entity) => [entity.id, entity]));
  const shown = (relation: Relation) => ({ id: relation.id, text: textOf(relation, named) });
  const isWeaker = (relation: Relation): boolean =>
    (kept.get(endsText(relation))?.messageIds.length ?? 0) < relation.messageIds.length;
  return {
    relations: before.relations.filter((one) => !kept.has(endsText(one))).map(shown),
    weakened: before.relations.filter((one) => kept.has(endsText(one)) && isWeaker(one)).map(shown),
    entities: entities
      .filter(({ id }) => ends.includes(id) && !left.some((statement) => endsOf(statement).includes(id)))
      .map(({ id, name }) => ({ id, name })),
  };
}

const endsText = ({ source, relationship, destination }: Relation): string =>
  [source, relationship, destination].join(' ');

const textOf = (relation: Relation, named: ReadonlyMap<string, Entity>): string =>
  relationText({
    sourceName: named.get(relation.source)?.name ?? '',
    relationship: relation.relationship,
    destinationName: named.get(relation.destination)?.name ?? '',
  });
