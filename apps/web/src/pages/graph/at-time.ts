import type { Graph, Relation } from '@slowwave/sdk';

/** A relation as it stands at some time. */
export interface Shown {
  readonly relation: Relation;
  readonly ended: boolean;
}

/** The relations that were known to hold or to have ended at a time, newest first. */
export function relationsAt(relations: readonly Relation[], at: number): readonly Shown[] {
  return relations
    .filter(({ valid_from: from }) => Date.parse(from) <= at)
    .map((relation) => ({ relation, ended: relation.invalid_at !== null && Date.parse(relation.invalid_at) <= at }))
    .toSorted((a, b) => Date.parse(b.relation.valid_from) - Date.parse(a.relation.valid_from));
}

/** When the first of the relations began; null: there is none. */
export const beginningOf = ({ relations }: Pick<Graph, 'relations'>): number | null =>
  relations.length === 0 ? null : Math.min(...relations.map(({ valid_from: from }) => Date.parse(from)));

/** What hangs together with one entity: its relations and those at their other ends. */
export function around(shown: readonly Shown[], entity: string): readonly Shown[] {
  const touches = ({ relation: { source, destination } }: Shown) => [source.id, destination.id].includes(entity);
  return shown.filter(touches);
}
