import { pages } from '../../pages.ts';
import type { TenantId } from '../../words.ts';
import type { Ends, KeptRelation } from '../words.ts';
import type { GraphWriteDeps } from './saying.ts';

/** Relations around an end that are looked through. */
const AROUND_MAX = 1_000;

/** All times at which a relation held. */
export const periodsOf = (deps: GraphWriteDeps, relation: KeptRelation): Promise<readonly KeptRelation[]> =>
  withEnds(deps, relation, { ends: relation, at: 'ever' });

/** The relation of these ends that holds now. */
export async function openWith(deps: GraphWriteDeps, where: OfLane, ends: Ends): Promise<KeptRelation | null> {
  const [open] = await withEnds(deps, where, { ends, at: null });
  return open ?? null;
}

type OfLane = Pick<KeptRelation, 'tenant' | 'owner' | 'lane'>;

/** Found around the end that has fewer relations; where both have many, among all with that relationship. */
async function withEnds(
  { ledger }: GraphWriteDeps,
  { tenant, owner, lane }: OfLane,
  { ends, at }: { readonly ends: Ends; readonly at: null | 'ever' },
): Promise<readonly KeptRelation[]> {
  const isMeant = (one: KeptRelation): boolean => sameEnds(one, ends);
  for (const end of [ends.destination, ends.source]) {
    const around = await ledger.graph.around(lane, { entities: [end], at, limit: AROUND_MAX });
    if (around.length < AROUND_MAX) return around.filter(isMeant);
  }
  const found: KeptRelation[] = [];
  const filter = { at, relationship: ends.relationship };
  for await (const one of pages((page) => ledger.graph.listRelations(tenant, owner, filter, page))) {
    if (isMeant(one)) found.push(one);
  }
  return found;
}

/** Whether it was said to be the only one of its source. */
export async function wasSingle({ ledger }: GraphWriteDeps, { id, lane, destination }: KeptRelation): Promise<boolean> {
  const said = await ledger.graph.statements(lane, { entities: [destination] });
  const first = said.find(({ statement }) => statement.id === id)?.statement;
  return first?.kind === 'holds' && first.single;
}

/** A relation that counts. */
export async function existing({ ledger }: GraphWriteDeps, tenant: TenantId, id: string): Promise<KeptRelation | null> {
  const relation = await ledger.graph.relation(tenant, id);
  return relation?.counts === true ? relation : null;
}

/** The first of these ids that a relation which counts has. */
export async function keptOf(
  deps: GraphWriteDeps,
  tenant: TenantId,
  ids: readonly (string | undefined)[],
): Promise<KeptRelation | null> {
  for (const id of ids) {
    const kept = id === undefined ? null : await existing(deps, tenant, id);
    if (kept !== null) return kept;
  }
  return null;
}

const sameEnds = (a: Ends, b: Ends): boolean =>
  a.source === b.source && a.relationship === b.relationship && a.destination === b.destination;
