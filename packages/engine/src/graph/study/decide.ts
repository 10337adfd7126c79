import type { EngineDeps } from '../../deps.ts';
import { ownerBitsOf } from '../../ids.ts';
import { lastSaid } from '../../messages/messages.ts';
import { type Asking, ask, inHalves } from '../../models/ask.ts';
import { embedTexts } from '../../models/embed.ts';
import {
  DECIDE_GRAPH,
  type DecideGraphInput,
  decisionsIn,
  type RawDecisions,
  type ShownRelation,
} from '../../models/prompts/graph.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { cosine } from '../../search/hits.ts';
import { localIsoOf, shownIsoOf } from '../../text/dates.ts';
import { isLastTry } from '../../turns/apart.ts';
import type { UtcOffset } from '../../words.ts';
import { aliasKey, likenessOf, MERGE_FROM, nameKey, PROPOSE_FROM, spelledAlike } from '../names.ts';
import { areRelated, arityOf, isMutual, mayBeOneKind, oppositeOf } from '../relationships.ts';
import type { Entity, KeptRelation } from '../words.ts';
import type { Admitted, Claim, Linked, Mention, Pair, Place } from './study-lane.ts';

/** Shown in one call: enough for a long conversation, and little enough that a model keeps the overview. */
const KNOWN_MAX = 60;
const PAIRS_MAX = 20;
const RELATIONS_OF_PAIR_MAX = 5;

export interface Decided extends Compared {
  readonly decisions: RawDecisions;
  /** The relations behind the ids that the model was shown. */
  readonly shownRelations: ReadonlyMap<string, KeptRelation>;
  /** The same of what was said: n0, n1, … */
  readonly shownClaims: ReadonlyMap<string, number>;
  readonly shownPairs: ReadonlyMap<string, Pair>;
  /** Whether a model was asked. */
  readonly decided: boolean;
}

/** Asks which relations end, and which names are of one; not at all where nothing is in doubt. */
export async function decide(asking: Asking, compared: Compared): Promise<Decided> {
  const { doubts, pairs } = compared;
  const known = [...new Map(doubts.flatMap((doubt) => doubt.known).map((one) => [one.id, one])).values()].slice(
    0,
    KNOWN_MAX,
  );
  const claims = [...new Set(doubts.flatMap((doubt) => [doubt.claim, ...doubt.others]))].sort((a, b) => a - b);
  const shown = {
    shownRelations: new Map(known.map((one, i) => [String(i), one])),
    shownClaims: new Map(claims.map((at, i) => [`n${i}`, at])),
    shownPairs: new Map(pairs.slice(0, PAIRS_MAX).map((pair, i) => [`p${i}`, pair])),
  };
  if (doubts.length + pairs.length === 0)
    return { ...compared, ...shown, decisions: { ends: [], pairs: [], unread: [] }, decided: false };
  const { deps } = asking;
  const halving = {
    ask: (doubtful: Doubtful, step: string) => decisionsOf(asking, { compared, shown, doubtful, step }),
    halve: async (doubtful: Doubtful) => halvesOf(doubtful),
    isLast: async () => isLastTry(deps, compared.study),
  };
  const answers = await inHalves(halving, { doubts, pairs: [...shown.shownPairs.values()] }, `${STEP}decide`);
  const decisions = {
    ends: answers.flatMap(({ ends }) => ends),
    pairs: answers.flatMap((one) => one.pairs),
    unread: answers.flatMap(({ unread }) => unread),
  };
  return { ...compared, ...shown, decisions, decided: true };
}

/** What one call is asked to decide. */
type Doubtful = Pick<Compared, 'doubts' | 'pairs'>;

/** null: one doubt is decided as a whole. */
function halvesOf({ doubts, pairs }: Doubtful): readonly Doubtful[] | null {
  if (doubts.length + pairs.length < 2) return null;
  if (doubts.length > 0 && pairs.length > 0)
    return [
      { doubts, pairs: [] },
      { doubts: [], pairs },
    ];
  const middle = Math.ceil((doubts.length + pairs.length) / 2);
  return [
    { doubts: doubts.slice(0, middle), pairs: pairs.slice(0, middle) },
    { doubts: doubts.slice(middle), pairs: pairs.slice(middle) },
  ];
}

interface Deciding {
  readonly compared: Compared;
  readonly shown: Shown;
  readonly doubtful: Doubtful;
  readonly step: string;
}

const decisionsOf = (asking: Asking, { compared, shown, doubtful, step }: Deciding): Promise<RawDecisions> =>
  ask(asking, {
    ...{ step, prompt: DECIDE_GRAPH, shape: decisionsIn },
    ask: 'Decide which relations end, and which pairs are the same.',
    input: inputOf(compared, shownOf(shown, doubtful)),
  });

/** What is shown of all, under the same ids. */
function shownOf({ shownRelations, shownClaims, shownPairs }: Shown, { doubts, pairs }: Doubtful): Shown {
  const known = new Set(doubts.flatMap((doubt) => doubt.known.map(({ id }) => id)));
  const claims = new Set(doubts.flatMap((doubt) => [doubt.claim, ...doubt.others]));
  return {
    shownRelations: new Map([...shownRelations].filter(([, { id }]) => known.has(id))),
    shownClaims: new Map([...shownClaims].filter(([, at]) => claims.has(at))),
    shownPairs: new Map([...shownPairs].filter(([, pair]) => pairs.includes(pair))),
  };
}

type Shown = Pick<Decided, 'shownRelations' | 'shownClaims' | 'shownPairs'>;

function inputOf(compared: Compared, { shownRelations, shownClaims, shownPairs }: Shown): DecideGraphInput {
  const offset = offsetOf(compared);
  return {
    new: [...shownClaims].flatMap(([id, at]) => newShown(compared, id, at) ?? []),
    known: [...shownRelations].map(([id, one]) => ({
      id,
      source: one.sourceName,
      relationship: one.relationship,
      destination: one.destinationName,
      said_at: localIsoOf(one.saidAt.at, offset),
      from: shownIsoOf(one.validFrom, offset),
    })),
    pairs: [...shownPairs].map(([id, { mention, other }]) => ({
      id,
      one: entityShown(compared, mention),
      other: { ...named(other), relations: relationsOf(compared, other.id) },
    })),
  };
}

/** All times are shown by the clock of who speaks now: relations do not keep the one they were said by. */
const offsetOf = ({ spoken }: Compared): UtcOffset | undefined =>
  spoken.length === 0 ? undefined : lastSaid(spoken.map(({ message }) => message)).clock?.offset;

function newShown(compared: Compared, id: string, at: number): (ShownRelation & { said: 'holds' | 'ended' }) | null {
  const { claims, mentions } = compared;
  const one = claims[at];
  const offset = offsetOf(compared);
  if (one === undefined || one.said === 'denied') return null;
  return {
    id,
    source: mentions[one.source]?.name ?? '',
    relationship: one.relationship,
    destination: mentions[one.destination]?.name ?? '',
    said_at: localIsoOf(one.saidAt.at, offset),
    from: shownIsoOf(one.validFrom, offset),
    said: one.said,
  };
}

const named = ({ name, kind, aliases }: Pick<Entity, 'name' | 'kind' | 'aliases'>) => ({ name, kind, aliases });

function entityShown(compared: Compared, mention: number): DecideGraphInput['pairs'][number]['one'] {
  const { mentions, claims } = compared;
  const mine = claims
    .filter(({ source, destination }) => source === mention || destination === mention)
    .map(
      ({ source, relationship, destination }) =>
        `${mentions[source]?.name} ${relationship} ${mentions[destination]?.name}`,
    );
  const { name = '', kind = 'thing', aliases = [] } = mentions[mention] ?? {};
  return { name, kind, aliases, relations: mine.slice(0, RELATIONS_OF_PAIR_MAX) };
}

const relationsOf = ({ neighbours }: Compared, entity: string): readonly string[] =>
  neighbours
    .filter(({ source, destination }) => source === entity || destination === entity)
    .map((one) => `${one.sourceName} ${one.relationship} ${one.destinationName}`)
    .slice(0, RELATIONS_OF_PAIR_MAX);

/** Relations that hold around the sources of new ones: more than anybody has of the few kinds that may conflict. */
const NEIGHBOURS_MAX = 200;

/** A new relation, and what holds that it may end, or may be ended by. */
interface Doubt {
  /** Its place in the list of what was said. */
  readonly claim: number;
  readonly known: readonly KeptRelation[];
  /** Others that were said with it, by their places. */
  readonly others: readonly number[];
}

interface Compared extends Linked {
  /** What holds around the sources of new relations. */
  readonly neighbours: readonly KeptRelation[];
  /** What only a model can decide. */
  readonly doubts: readonly Doubt[];
}

/** Finds what the new relations may contradict. What a table of relationships decides is in no doubt. */
export async function compare({ ledger }: Pick<EngineDeps, 'ledger'>, linked: Linked): Promise<Compared> {
  const known = linked.places.filter(({ isNew }) => !isNew).map(({ id }) => id);
  const entities = [...new Set([...known, ...linked.pairs.map(({ other }) => other.id)])];
  const neighbours =
    entities.length === 0 || linked.claims.length === 0
      ? []
      : await ledger.graph.around(linked.study.lane, { entities, at: null, limit: NEIGHBOURS_MAX });
  const claims = linked.claims
    .map((one) => fromTheOlder(one, linked))
    .map((one) => (isOnlyOne(one, linked, neighbours) ? one : { ...one, single: false }));
  const compared = { ...linked, claims, neighbours };
  return { ...compared, doubts: claims.flatMap((_one, i) => doubtOf(compared, i) ?? []) };
}

/** What holds from both ends is looked at from one: from the owner's, else from that of who is known for longer. */
function fromTheOlder(claim: Claim, { mentions, places }: Linked): Claim {
  const { source, destination, relationship } = claim;
  if (!isMutual(relationship) || mentions[source]?.self === true) return claim;
  const [one, other] = [places[source]?.id ?? '', places[destination]?.id ?? ''];
  const swapped = mentions[destination]?.self === true || other < one;
  return swapped ? { ...claim, source: destination, destination: source } : claim;
}

/** A model's word that there can be one at a time counts only where it ends no more than one. */
function isOnlyOne(claim: Claim, linked: Linked, neighbours: readonly KeptRelation[]): boolean {
  if (!claim.single || arityOf(claim.relationship) === 'one') return claim.single;
  const others = neighbours.filter(
    (one) =>
      one.relationship === claim.relationship &&
      isOf(linked, claim.source, one.source) &&
      !isOf(linked, claim.destination, one.destination),
  );
  return others.length <= 1;
}

/** Whether a mention is of an entity, or may be. */
const isOf = ({ places, pairs }: Pick<Linked, 'places' | 'pairs'>, mention: number, entity: string): boolean =>
  places[mention]?.id === entity || pairs.some((pair) => pair.mention === mention && pair.other.id === entity);

function doubtOf(compared: Omit<Compared, 'doubts'>, at: number): Doubt | null {
  const one = compared.claims[at];
  if (one === undefined || one.said === 'denied' || one.until !== null) return null;
  const known = compared.neighbours.filter((relation) =>
    one.said === 'ended' ? mayMean(compared, one, relation) : mayConflict(compared, one, relation),
  );
  const others =
    one.said === 'ended' ? [] : compared.claims.flatMap((other, i) => (i !== at && contradicts(one, other) ? [i] : []));
  return known.length + others.length === 0 ? null : { claim: at, known, others };
}

/** An end that names no relation in the words it is kept in may mean this one. */
function mayMean(compared: Omit<Compared, 'doubts'>, claim: Claim, relation: KeptRelation): boolean {
  const isMeant = (one: KeptRelation): boolean =>
    isOf(compared, claim.source, one.source) && isOf(compared, claim.destination, one.destination);
  const isKnown = compared.neighbours.some((one) => isMeant(one) && one.relationship === claim.relationship);
  return !isKnown && isMeant(relation);
}

/** Of the same source, to somebody else, and nothing but the context says whether both can be. */
function mayConflict(compared: Linked, claim: Claim, relation: KeptRelation): boolean {
  if (!isOf(compared, claim.source, relation.source)) return false;
  if (claim.relationship !== relation.relationship) return areRelated(claim.relationship, relation.relationship);
  if (isOf(compared, claim.destination, relation.destination)) return false;
  return arityOf(claim.relationship) === 'unsure' && !claim.single;
}

/** Two that were said of the same source at different times. */
const contradicts = (one: Claim, other: Claim): boolean =>
  other.said === 'holds' &&
  other.until === null &&
  one.source === other.source &&
  one.relationship === other.relationship &&
  one.destination !== other.destination &&
  arityOf(one.relationship) === 'unsure' &&
  !one.single &&
  one.saidAt.seq !== other.saidAt.seq;

/** What holds and cannot any more, by the table of relationships: who dislikes it likes it no longer. */
export function endedByRule({ neighbours, places }: Compared, claim: Claim): readonly KeptRelation[] {
  const opposite = claim.said === 'holds' && claim.until === null ? oppositeOf(claim.relationship) : null;
  const [source, destination] = [places[claim.source]?.id, places[claim.destination]?.id];
  return neighbours.filter(
    (one) => one.relationship === opposite && one.source === source && one.destination === destination,
  );
}

/** Entities that one name is compared with by vectors: those spelled most alike, where there are more. */
const COMPARED_MAX = 200;

/** Finds the entity of each mention: one that is known, or a new one. Those that may be known under another name become pairs. */
export async function link(deps: EngineDeps, admitted: Admitted, cancel: Cancellation): Promise<Linked> {
  const known = await knownOf(deps, admitted);
  const sure = admitted.mentions.map((mention) => knownAs(mention, admitted, known));
  const open = admitted.mentions.filter((mention, i) => sure[i] === null && !mention.self);
  const cosineOf = await vectorsFor(deps, { admitted, known, open }, cancel);
  const places: Place[] = [];
  const pairs: Pair[] = [];
  const made = new Map<string, Entity>();
  for (const [mention, mentioned] of admitted.mentions.entries()) {
    const found = sure[mention] ?? made.get(madeKey(mentioned)) ?? null;
    const likely = found === null ? mostAlike(mentioned, [...known, ...made.values()], cosineOf) : null;
    const entity =
      found ?? (likely !== null && likely.likeness >= MERGE_FROM ? likely.other : newFor(deps, admitted, mentioned));
    const isNew = !known.includes(entity);
    if (isNew && !made.has(madeKey(mentioned))) made.set(madeKey(mentioned), entity);
    if (likely !== null && likely.other !== entity) pairs.push({ mention, ...likely });
    places.push({ id: entity.id, isNew });
  }
  return { ...admitted, places, pairs: [...pairs, ...claimed(admitted, { known, places })] };
}

/** Names of one kind that are the same but for how they are dressed are one also where both are new. */
const madeKey = ({ self, name, kind }: Mention): string => (self ? '' : `${kind} ${aliasKey(name, kind)}`);

/** As it will be, once the study is applied. */
const newFor = ({ tools }: EngineDeps, { study }: Admitted, { name, kind, self }: Mention): Entity => ({
  ...{ tenant: study.tenant, lane: study.lane, owner: study.owner, name, kind, self },
  id: tools.id('ent', ownerBitsOf(tools, study)),
  ...{ aliases: [], mergedInto: null, counts: true, revision: 0, createdAt: tools.now() },
});

/** What was read, and what has one of the names and was not among it. */
async function knownOf(
  { ledger }: EngineDeps,
  { study, mentions, entities, self }: Admitted,
): Promise<readonly Entity[]> {
  const names = [...new Set(mentions.flatMap(({ name, aliases }) => [name, ...aliases]).map(nameKey))];
  const named = names.length === 0 ? [] : await ledger.graph.named(study.lane, names);
  const all = [...entities, ...named, ...(self === null ? [] : [self])];
  return [...new Map(all.map((entity) => [entity.id, entity])).values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}

/** The entity that a mention names beyond doubt; null where it is for likeness to say. */
function knownAs(mention: Mention, { self, claims, mentions }: Admitted, known: readonly Entity[]): Entity | null {
  if (mention.self) return self;
  if (mention.known !== null && mayBeOneKind(mention.known.kind, mention.kind)) return mention.known;
  const at = mentions.indexOf(mention);
  const ofSelf = claims
    .map(({ source, destination }) => [source, destination])
    .some((ends) => ends.includes(at) && ends.some((end) => mentions[end]?.self === true));
  // Who is related to the user is not the user, whatever both are called.
  const others = known.filter((entity) => mayBeOneKind(entity.kind, mention.kind) && !(entity.self && ofSelf));
  const [first] = namesOf(mention).flatMap((name) => {
    const exact = others.filter((entity) => isCalled(entity, name));
    return [...exact.filter(({ kind }) => kind === mention.kind), ...exact];
  });
  if (first !== undefined) return first;
  const alike = others.filter((entity) => !entity.self && likest(mention, entity, () => 0) === 1);
  return alike.length === 1 ? (alike[0] ?? null) : null;
}

const namesOf = ({ name, aliases }: Pick<Entity, 'name' | 'aliases'>): readonly string[] => [name, ...aliases];

const isCalled = (entity: Entity, name: string): boolean =>
  namesOf(entity).some((one) => nameKey(one) === nameKey(name));

type CosineOf = (a: string, b: string) => number;

/** The one most alike, where that is worth a question. */
function mostAlike(mention: Mention, known: readonly Entity[], cosineOf: CosineOf): Omit<Pair, 'mention'> | null {
  let best: Omit<Pair, 'mention'> | null = null;
  for (const other of known) {
    if (other.self || other.kind !== mention.kind) continue;
    const likeness = likest(mention, other, cosineOf);
    if (likeness >= PROPOSE_FROM && likeness > (best?.likeness ?? 0)) best = { other, likeness };
  }
  return best;
}

const likest = (mention: Mention, entity: Entity, cosineOf: CosineOf): number =>
  Math.max(
    ...namesOf(mention).flatMap((a) =>
      namesOf(entity).map((b) => likenessOf(a, b, { kind: mention.kind, cosine: cosineOf(a, b) })),
    ),
  );

/** How near names are; 0 where they are not compared. Names are embedded once for their lane. */
async function vectorsFor(
  deps: EngineDeps,
  { admitted, known, open }: { admitted: Admitted; known: readonly Entity[]; open: readonly Mention[] },
  cancel: Cancellation,
): Promise<CosineOf> {
  const texts = new Set(open.flatMap(namesOf));
  for (const mention of open) for (const name of comparedWith(mention, known)) texts.add(name);
  if (texts.size === 0) return () => 0;
  const vectorOf = await embedTexts(deps, { lane: admitted.study.lane, texts: [...texts] }, cancel);
  return (a, b) => (texts.has(a) && texts.has(b) ? cosine(vectorOf(a), vectorOf(b)) : 0);
}

function comparedWith(mention: Mention, known: readonly Entity[]): readonly string[] {
  const others = known.filter(({ self, kind }) => !self && kind === mention.kind);
  const near = (entity: Entity): number =>
    Math.max(...namesOf(entity).map((name) => spelledAlike(mention.name, name, mention.kind)));
  const some =
    others.length <= COMPARED_MAX ? others : others.toSorted((a, b) => near(b) - near(a)).slice(0, COMPARED_MAX);
  return some.flatMap(namesOf);
}

/** A message says that one known entity is also called as another one is: they may be one. */
function claimed(
  { mentions }: Admitted,
  { known, places }: { known: readonly Entity[]; places: readonly Place[] },
): readonly Pair[] {
  return mentions.flatMap((mention, at) =>
    mention.aliases.flatMap((alias) => {
      const other = known.find(
        (entity) => !entity.self && mayBeOneKind(entity.kind, mention.kind) && isCalled(entity, alias),
      );
      return other === undefined || other.id === places[at]?.id ? [] : [{ mention: at, other, likeness: CLAIMED }];
    }),
  );
}

/** What a message says outright is likelier than what names look like, and still asked about. */
const CLAIMED = 0.89;

/** What the names of a study's answers begin with, among those of its consolidation. */
export const STEP = 'graph:';
