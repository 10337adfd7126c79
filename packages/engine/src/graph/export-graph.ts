import { pages } from '../pages.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import { entityView, relationView, statementView } from '../views/graph.ts';
import type { LaneId, TenantId } from '../words.ts';

interface Of {
  readonly tenant: TenantId;
  readonly userId: string;
  readonly lane: LaneId;
}

interface GraphPart {
  readonly type: 'entity' | 'relation' | 'statement';
  readonly [key: string]: unknown;
}

type Deps = { readonly ledger: Pick<Ledger, 'graph'> };

/** The graph of a user: entities, all that was said of them, undone or not, and all relations. */
export async function* graphParts({ ledger }: Deps, { tenant, userId, lane }: Of): AsyncGenerator<GraphPart> {
  const owner = { kind: 'user', id: userId } as const;
  const { graph } = ledger;
  const told = new Set<string>();
  const isNew = (id: string): boolean => !told.has(id) && told.add(id).has(id);
  for await (const { id } of pages((page) => graph.listEntities(tenant, owner, {}, page))) {
    const said = await graph.statements(lane, { entities: [id] });
    // The ones that were merged into it are listed by nothing else.
    const merged = said.flatMap(({ statement }) => (statement.kind === 'same' ? [statement.source] : []));
    for (const entity of await graph.entities(tenant, [id, ...merged])) {
      if (isNew(entity.id)) yield { type: 'entity', ...entityView(entity) };
    }
    for (const { statement, counts } of said) {
      if (isNew(statement.id)) yield { type: 'statement', ...statementView(statement, counts) };
    }
  }
  for await (const relation of pages((page) => graph.listRelations(tenant, owner, { at: 'ever' }, page))) {
    yield { type: 'relation', ...relationView(relation) };
  }
}
