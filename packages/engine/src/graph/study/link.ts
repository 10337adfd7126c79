import type { EngineDeps } from '../../deps.ts';
import { ownerBitsOf } from '../../ids.ts';
import { embedTexts } from '../../models/embed.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { cosine } from '../../search/hits.ts';
import { aliasKey, likenessOf, MERGE_FROM, nameKey, PROPOSE_FROM, spelledAlike } from '../names.ts';
import { mayBeOneKind } from '../relationships.ts';
import type { Entity } from '../words.ts';
import type { Admitted, Linked, Mention, Pair, Place } from './values.ts';

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
