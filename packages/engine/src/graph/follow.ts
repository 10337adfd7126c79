import { normaliseText } from '../text/normalise.ts';
import { foldRelations, inOrder, type Standing, standingOf } from './fold.ts';
import type { Entity, Relation, Statement } from './words.ts';

/** What of an entity follows from the statements that count. */
export type Following = Pick<Entity, 'aliases' | 'mergedInto' | 'counts'>;

type Called = Pick<Entity, 'id' | 'name'>;

/** The whole graph of a lane: what its entities are, and its relations. */
export function graphOf(
  entities: readonly Called[],
  counting: readonly Statement[],
  self: string | null,
): { readonly entities: ReadonlyMap<string, Following>; readonly relations: readonly Relation[] } {
  const standing = standingOf(counting, self);
  const merged = Map.groupBy(entities, ({ id }) => standing(id));
  const about = groupByEnds(counting);
  const followings = entities.map((entity) => {
    const others = standing(entity.id) === entity.id ? (merged.get(entity.id) ?? []) : [];
    const all = [entity, ...others].flatMap(({ id }) => about.get(id) ?? []);
    return [entity.id, followingOf(entity, { merged: others, counting: all, standing })] as const;
  });
  return { entities: new Map(followings), relations: foldRelations(counting, standing) };
}

/** What follows for one entity, of the ones that were merged into it and all statements that count and name any of them. */
function followingOf(
  entity: Called,
  given: { readonly merged: readonly Called[]; readonly counting: readonly Statement[]; readonly standing: Standing },
): Following {
  const end = given.standing(entity.id);
  return {
    aliases: aliasesOf(entity, given.merged, given.counting),
    mergedInto: end === entity.id ? null : end,
    counts: given.counting.some((statement) => endsOf(statement).includes(entity.id)),
  };
}

/** The entities that a statement names. */
export function endsOf(statement: Statement): readonly string[] {
  return 'destination' in statement ? [statement.source, statement.destination] : [statement.source];
}

/** The same statement of other entities. */
export function renamed(statement: Statement, nameOf: (id: string) => string): Statement {
  const source = nameOf(statement.source);
  return 'destination' in statement
    ? { ...statement, source, destination: nameOf(statement.destination) }
    : { ...statement, source };
}

/** An entity's other names in the order they were said, then what the others were first called; each once, however it is written. */
export function aliasesOf(
  entity: Called,
  merged: readonly Called[],
  counting: readonly Statement[],
): readonly string[] {
  const ids = new Set([entity, ...merged].map(({ id }) => id));
  const said = inOrder(counting).flatMap((one) => (one.kind === 'named' && ids.has(one.source) ? [one.name] : []));
  const first = merged.toSorted((a, b) => (a.id < b.id ? -1 : 1)).filter(({ id }) => id !== entity.id);
  const names = new Map<string, string>([[normaliseText(entity.name), entity.name]]);
  for (const name of [...said, ...first.map((one) => one.name)]) {
    const key = normaliseText(name);
    if (!names.has(key)) names.set(key, name);
  }
  return [...names.values()].slice(1);
}

function groupByEnds(statements: readonly Statement[]): ReadonlyMap<string, readonly Statement[]> {
  const about = new Map<string, Statement[]>();
  for (const statement of statements) {
    for (const id of new Set(endsOf(statement))) {
      const known = about.get(id);
      if (known === undefined) about.set(id, [statement]);
      else known.push(statement);
    }
  }
  return about;
}
