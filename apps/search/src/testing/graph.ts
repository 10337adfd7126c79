import {
  DEFAULT_TENANT,
  type LaneId,
  type NewEntity,
  type Owner,
  type Statement,
  type TenantId,
} from '@slowwave/engine';
import { newEntity, statementsBy } from '@slowwave/engine-testing';
import { searchBench } from './bench.ts';

export const ANN: Owner = { kind: 'user', id: 'ann' };
export const DAY_MS = 86_400_000;

const KINDS: Readonly<Record<string, NewEntity['kind']>> = {
  Berlin: 'place',
  Lisbon: 'place',
  Acme: 'organisation',
  Bolt: 'organisation',
  Rex: 'animal',
};

/** The read routes over a graph that is said by hand. */
export async function graphBench() {
  const bench = await searchBench();
  const { ledger, tools } = bench.engine.deps;
  const said = statementsBy(tools);
  const laneOf = (owner: Owner, tenant: TenantId): Promise<LaneId> =>
    ledger.memories.laneOf(tenant, owner, tools.now());
  /** Ids of entities are their names; "Me" is the owner. */
  const say = async (statements: readonly Statement[], owner: Owner = ANN, tenant: TenantId = DEFAULT_TENANT) => {
    const lane = await laneOf(owner, tenant);
    const names = statements.flatMap((one) => ('destination' in one ? [one.source, one.destination] : [one.source]));
    const entities = [...new Set(names)].map((id) => newEntity(id, { kind: KINDS[id] ?? 'person', self: id === 'Me' }));
    const { kind } = await ledger.graph.write(tenant, lane, { entities, statements, now: tools.now() });
    if (kind !== 'written') throw new Error(`expected the statements to be written, got ${kind}`);
  };
  const query = (body: object) =>
    bench.app.inject({ method: 'POST', url: '/v1/graph/query', payload: { user_id: 'ann', ...body } });
  return { ...bench, said, say, query, tools: bench.engine.tools };
}
