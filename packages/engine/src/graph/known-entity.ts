import type { GraphStore } from '../ports/ledger/graph.ts';
import { normaliseText } from '../text/normalise.ts';
import type { LaneId, TenantId } from '../words.ts';
import type { Entity } from './words.ts';

/** An entity by what is known of it. */
export type KnownEntity =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'self' };

type Reading = Pick<GraphStore, 'entities' | 'named' | 'self'>;

/** The entities of a lane that are meant, each as the one it stands for. None: there is none. */
export async function entitiesMeant(
  graph: Reading,
  { tenant, lane }: { readonly tenant: TenantId; readonly lane: LaneId },
  known: KnownEntity,
): Promise<readonly Entity[]> {
  if (known.kind === 'name') return graph.named(lane, [normaliseText(known.name)]);
  const found = known.kind === 'self' ? await graph.self(lane) : await entityOf(graph, tenant, known.id);
  if (found === null || found.lane !== lane) return [];
  const standing = found.mergedInto === null ? found : await entityOf(graph, tenant, found.mergedInto);
  return standing === null ? [] : [standing];
}

const entityOf = async (graph: Reading, tenant: TenantId, id: string): Promise<Entity | null> =>
  (await graph.entities(tenant, [id]))[0] ?? null;
