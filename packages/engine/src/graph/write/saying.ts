import type { EngineDeps } from '../../deps.ts';
import { ownerBitsOfLane } from '../../ids.ts';
import { EXPLICIT_SEQ } from '../../memories/write.ts';
import type { EntityGiven, GraphRefusal } from '../../ports/writers.ts';
import { normaliseText } from '../../text/normalise.ts';
import type { LaneId, TenantId } from '../../words.ts';
import { entitiesMeant, isSelfName, nameOf, SELF_NAME } from '../names.ts';
import { projectGraphNow } from '../project.ts';
import { isMutual, mayBeOneKind, relationshipOf } from '../relationships.ts';
import type { Ends, NewEntity, Statement } from '../words.ts';

/** What an explicit change of a graph works with: nothing that thinks. */
export type GraphWriteDeps = Pick<EngineDeps, 'ledger' | 'tools' | 'log' | 'index' | 'embedder'>;

type Kind = Statement['kind'];
type Of<K extends Kind> = Extract<Statement, { readonly kind: K }>;
/** A statement without what all explicit ones have alike. */
export type Draft = {
  [K in Kind]: Omit<Of<K>, keyof Said> & Partial<Pick<Said, 'quote' | 'messageIds' | 'memoryIds'>>;
}[Kind];
type Said = Pick<Statement, 'id' | 'saidAt' | 'recordedAt' | 'consolidationId' | 'messageIds' | 'memoryIds' | 'quote'>;

/**
 * Statements somebody makes themselves, in their order. Whoever writes explicitly has the last word about these entities,
 * also against messages that claim to come from the future.
 */
export async function saying(
  { ledger, tools }: GraphWriteDeps,
  { lane, about }: { readonly lane: LaneId; readonly about: readonly string[] },
  drafts: readonly Draft[],
): Promise<readonly Statement[]> {
  const known = about.length === 0 ? [] : await ledger.graph.statements(lane, { entities: about });
  const now = tools.now();
  const latest = known.at(-1)?.statement.saidAt.at ?? 0;
  const at = latest < now ? now : latest + 1;
  const bits = ownerBitsOfLane(lane);
  return drafts.map((draft, i) => ({
    ...{ messageIds: [], memoryIds: [], quote: null },
    ...draft,
    id: tools.id('sta', bits),
    saidAt: { at, seq: EXPLICIT_SEQ - drafts.length + i + 1 },
    recordedAt: now,
    consolidationId: null,
  }));
}

interface Change {
  readonly entities: readonly NewEntity[];
  readonly statements: readonly Statement[];
}

/** Writes a change and waits to have it found, by its words where the embedder does not answer. 'unprojected': it is stored, and told to the index later. */
export async function written(
  deps: GraphWriteDeps,
  {
    tenant,
    lane,
  }: { readonly tenant: Parameters<GraphWriteDeps['ledger']['graph']['write']>[0]; readonly lane: LaneId },
  change: Change,
): Promise<'written' | 'unprojected' | 'conflict'> {
  const { kind } = await deps.ledger.graph.write(tenant, lane, { ...change, now: deps.tools.now() });
  if (kind === 'conflict') return 'conflict';
  const searchable = await projectGraphNow(deps, lane, 'a graph was changed, but is not searchable yet');
  return searchable === 'later' ? 'unprojected' : 'written';
}

/** The ends of a relation that somebody names, and the entities that are made for it. */
interface GivenEnds {
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
  return newEnd(deps, where, { name: SELF_NAME, kind: 'person', self: true });
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
  return newEnd(deps, where, { name, kind: of ?? 'thing', self: false });
}

function newEnd({ tools }: GraphWriteDeps, { lane }: Lane, entity: Omit<NewEntity, 'id'>): End {
  const made = { ...entity, id: tools.id('ent', ownerBitsOfLane(lane)) };
  return { kind: 'end', id: made.id, self: made.self, made };
}
