import { endsOf, renamed } from './follow.ts';
import type { NewEntity, Statement } from './words.ts';

interface Change {
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
}

/**
 * A change as it is written: each lane has one entity of the owner, so where one is there already, it takes the place of a
 * new one.
 */
export function withOneSelf({ entities, statements }: Change, self: string | null): Change {
  const [first] = entities.filter((entity) => entity.self);
  const own = self ?? first?.id ?? null;
  const others = new Set(entities.filter((entity) => entity.self && entity.id !== own).map(({ id }) => id));
  if (own === null || others.size === 0) return { entities, statements };
  const nameOf = (id: string): string => (others.has(id) ? own : id);
  return {
    entities: entities.filter(({ id }) => !others.has(id)),
    statements: statements.map((statement) => renamed(statement, nameOf)),
  };
}

/** Statements are about entities of their own lane alone: what another lane knows is another owner's. */
export function requireKnownEnds(statements: readonly Statement[], known: ReadonlySet<string>): void {
  const stray = statements.find((statement) => endsOf(statement).some((id) => !known.has(id)));
  if (stray === undefined) return;
  throw new Error(`statement ${stray.id} names an entity that its lane does not have`);
}
