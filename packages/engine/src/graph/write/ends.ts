import type { EntityGiven, GraphRefusal } from '../../ports/graph-writer.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { LaneId, TenantId } from '../../words.ts';
import { mayBeOneKind } from '../entity-kinds.ts';
import { entitiesMeant } from '../known-entity.ts';
import { isSelfName, nameOf, SELF_NAME } from '../names.ts';
import { isMutual, relationshipOf } from '../relationships.ts';
import type { Ends, NewEntity } from '../words.ts';
import type { GraphWriteDeps } from './saying.ts';

/** The ends of a relation that somebody names, and the entities that are made for it. */
export interface GivenEnds {
  readonly kind: 'ends';
  readonly ends: Ends;
  readonly made: readonly NewEntity[];
}

interface Lane {
  readonly tenant: TenantId;
  readonly lane: LaneId;
}

interface Asked {
  readonly source: EntityGiven;
  readonly relationship: string;
  readonly destination: EntityGiven;
}

type End = { readonly kind: 'end'; readonly id: string; readonly self: boolean; readonly made: NewEntity | null };

/** Looks entities up, makes those that are not there yet, and brings the relationship into its general form. */
export async function endsGiven(deps: GraphWriteDeps, where: Lane, asked: Asked): Promise<GivenEnds | GraphRefusal> {
  const relationship = relationshipOf(asked.relationship);
  if (relationship === null) {
    return { kind: 'refused', why: `expected a relationship like works_at, got ${JSON.stringify(asked.relationship)}` };
  }
  const source = await endOf(deps, where, asked.source);
  if (source.kind !== 'end') return source;
  const destination = await endOf(deps, where, asked.destination);
  if (destination.kind !== 'end') return destination;
  if (source.id === destination.id || sameName(source.made, destination.made)) {
    return { kind: 'refused', why: 'source and destination are the same entity; a relation is between two' };
  }
  const turned = relationship.inverse !== (isMutual(relationship.name) && destination.self);
  const [from, to] = turned ? [destination, source] : [source, destination];
  const made = [source.made, destination.made].filter((entity) => entity !== null);
  return { kind: 'ends', ends: { source: from.id, relationship: relationship.name, destination: to.id }, made };
}

const sameName = (a: NewEntity | null, b: NewEntity | null): boolean =>
  a !== null && b !== null && (a.self ? b.self : normaliseText(a.name) === normaliseText(b.name));

async function endOf(deps: GraphWriteDeps, where: Lane, given: EntityGiven): Promise<End | GraphRefusal> {
  if (given.kind === 'name')
    return isSelfName(given.name) ? endOf(deps, where, { kind: 'self' }) : namedEnd(deps, where, given);
  const [found] = await entitiesMeant(deps.ledger.graph, where, given);
  if (found !== undefined) return { kind: 'end', id: found.id, self: found.self, made: null };
  if (given.kind === 'id') return { kind: 'not_found', what: 'entity', id: given.id };
  return newEnd(deps, { name: SELF_NAME, kind: 'person', self: true });
}

/** The one that is called so; a new one where there is none of its kind. */
async function namedEnd(
  deps: GraphWriteDeps,
  where: Lane,
  { name: given, of }: Extract<EntityGiven, { readonly kind: 'name' }>,
): Promise<End | GraphRefusal> {
  const name = nameOf(given);
  if (name === null) return { kind: 'refused', why: `expected the name of an entity, got ${JSON.stringify(given)}` };
  const called = await entitiesMeant(deps.ledger.graph, where, { kind: 'name', name });
  const fitting = called.filter(({ kind }) => of === null || mayBeOneKind(of, kind));
  const [found, another] = fitting;
  if (another !== undefined) return { kind: 'ambiguous', name, ids: fitting.map(({ id }) => id) };
  if (found !== undefined) return { kind: 'end', id: found.id, self: found.self, made: null };
  return newEnd(deps, { name, kind: of ?? 'thing', self: false });
}

function newEnd({ tools }: GraphWriteDeps, entity: Omit<NewEntity, 'id'>): End {
  const made = { ...entity, id: tools.id('ent') };
  return { kind: 'end', id: made.id, self: made.self, made };
}
