import type { EngineDeps } from '../../deps.ts';
import { areRelated, arityOf, isMutual, oppositeOf } from '../relationships.ts';
import type { KeptRelation } from '../words.ts';
import type { Linked, Told } from './values.ts';

/** Relations that hold around the sources of new ones: more than anybody has of the few kinds that may conflict. */
const NEIGHBOURS_MAX = 200;

/** A told relation, and what holds that it may end, or may be ended by. */
interface Doubt {
  /** Its place in the list of what was told. */
  readonly told: number;
  readonly known: readonly KeptRelation[];
  /** Others that were told with it, by their places. */
  readonly others: readonly number[];
}

export interface Compared extends Linked {
  /** What holds around the sources of new relations. */
  readonly neighbours: readonly KeptRelation[];
  /** What only a model can tell. */
  readonly doubts: readonly Doubt[];
}

/** Finds what the new relations may contradict. What a table of relationships settles is in no doubt. */
export async function compare({ ledger }: Pick<EngineDeps, 'ledger'>, linked: Linked): Promise<Compared> {
  const known = linked.places.filter(({ isNew }) => !isNew).map(({ id }) => id);
  const entities = [...new Set([...known, ...linked.pairs.map(({ other }) => other.id)])];
  const neighbours =
    entities.length === 0 || linked.told.length === 0
      ? []
      : await ledger.graph.around(linked.study.lane, { entities, at: null, limit: NEIGHBOURS_MAX });
  const told = linked.told
    .map((one) => fromTheOlder(one, linked))
    .map((one) => (isOnlyOne(one, linked, neighbours) ? one : { ...one, single: false }));
  const compared = { ...linked, told, neighbours };
  return { ...compared, doubts: told.flatMap((_one, i) => doubtOf(compared, i) ?? []) };
}

/** What holds from both ends is looked at from one: from the owner's, else from that of who is known for longer. */
function fromTheOlder(told: Told, { mentions, places }: Linked): Told {
  const { source, destination, relationship } = told;
  if (!isMutual(relationship) || mentions[source]?.self === true) return told;
  const [one, other] = [places[source]?.id ?? '', places[destination]?.id ?? ''];
  const swapped = mentions[destination]?.self === true || other < one;
  return swapped ? { ...told, source: destination, destination: source } : told;
}

/** A model's word that there can be one at a time counts only where it ends no more than one. */
function isOnlyOne(told: Told, linked: Linked, neighbours: readonly KeptRelation[]): boolean {
  if (!told.single || arityOf(told.relationship) === 'one') return told.single;
  const others = neighbours.filter(
    (one) =>
      one.relationship === told.relationship &&
      isOf(linked, told.source, one.source) &&
      !isOf(linked, told.destination, one.destination),
  );
  return others.length <= 1;
}

/** Whether a mention is of an entity, or may be. */
const isOf = ({ places, pairs }: Pick<Linked, 'places' | 'pairs'>, mention: number, entity: string): boolean =>
  places[mention]?.id === entity || pairs.some((pair) => pair.mention === mention && pair.other.id === entity);

function doubtOf(compared: Omit<Compared, 'doubts'>, at: number): Doubt | null {
  const one = compared.told[at];
  if (one === undefined || one.said === 'denied' || one.until !== null) return null;
  const known = compared.neighbours.filter((relation) =>
    one.said === 'ended' ? mayMean(compared, one, relation) : mayConflict(compared, one, relation),
  );
  const others =
    one.said === 'ended' ? [] : compared.told.flatMap((other, i) => (i !== at && contradicts(one, other) ? [i] : []));
  return known.length + others.length === 0 ? null : { told: at, known, others };
}

/** An end that names no relation in the words it is kept in may mean this one. */
function mayMean(compared: Omit<Compared, 'doubts'>, told: Told, relation: KeptRelation): boolean {
  const isMeant = (one: KeptRelation): boolean =>
    isOf(compared, told.source, one.source) && isOf(compared, told.destination, one.destination);
  const isKnown = compared.neighbours.some((one) => isMeant(one) && one.relationship === told.relationship);
  return !isKnown && isMeant(relation);
}

/** Of the same source, to somebody else, and nothing but the context says whether both can be. */
function mayConflict(compared: Linked, told: Told, relation: KeptRelation): boolean {
  if (!isOf(compared, told.source, relation.source)) return false;
  if (told.relationship !== relation.relationship) return areRelated(told.relationship, relation.relationship);
  if (isOf(compared, told.destination, relation.destination)) return false;
  return arityOf(told.relationship) === 'unsure' && !told.single;
}

/** Two that were said of the same source at different times. */
const contradicts = (one: Told, other: Told): boolean =>
  other.said === 'holds' &&
  other.until === null &&
  one.source === other.source &&
  one.relationship === other.relationship &&
  one.destination !== other.destination &&
  arityOf(one.relationship) === 'unsure' &&
  !one.single &&
  one.saidAt.seq !== other.saidAt.seq;

/** What holds and cannot any more, by the table of relationships: who dislikes it likes it no longer. */
export function endedByRule({ neighbours, places }: Compared, told: Told): readonly KeptRelation[] {
  const opposite = told.said === 'holds' && told.until === null ? oppositeOf(told.relationship) : null;
  const [source, destination] = [places[told.source]?.id, places[told.destination]?.id];
  return neighbours.filter(
    (one) => one.relationship === opposite && one.source === source && one.destination === destination,
  );
}
