import type { EngineDeps } from '../../deps.ts';
import { ownerBitsOf } from '../../ids.ts';
import { promptUse } from '../../models/ask.ts';
import { usesOf } from '../../models/limits.ts';
import { DECIDE_GRAPH, EXTRACT_GRAPH } from '../../models/prompts/graph.ts';
import type { PromptUse, Remark } from '../../plan.ts';
import { compareSaid, type JsonObject } from '../../words.ts';
import { isNamedIn, MERGE_FROM, nameKey } from '../names.ts';
import { isMutual } from '../relationships.ts';
import type {
  EndedStatement,
  Ends,
  GraphPlan,
  KeptRelation,
  MergeProposal,
  NewEntity,
  SameStatement,
  Statement,
} from '../words.ts';
import { type Decided, endedByRule, STEP } from './decide.ts';
import type { Claim, Mention, Pair, Place } from './study-lane.ts';

/** The whole outcome of a study: what it makes and says, and what it cost. */
export async function draft(deps: EngineDeps, concluded: Concluded): Promise<GraphPlan> {
  const { study, proposals, remarks } = concluded;
  const saying = sayingIn(deps, concluded);
  const statements: Statement[] = [
    ...concluded.claims.flatMap((claim) => statementOf(concluded, claim, saying) ?? []),
    ...concluded.ends.map(
      (end): EndedStatement => ({
        ...saying(end.by),
        ...endsOf(concluded, end.relation),
        kind: 'ended',
        at: end.by.at,
        reason: end.reason,
      }),
    ),
    ...merged(concluded, saying),
  ];
  const namedIds = idsIn(statements);
  const named = namings(concluded, namedIds).map((naming) => ({
    ...saying(naming),
    kind: 'named' as const,
    source: naming.source,
    name: naming.name,
  }));
  const all = inThisOrder([...named, ...statements]);
  const ids = idsIn(all);
  const isThere = (id: string): boolean =>
    ids.has(id) || !concluded.places.some((place) => place.isNew && place.id === id);
  return {
    consolidationId: study.consolidationId,
    entities: newEntities(concluded, ids),
    statements: all,
    proposals: proposals.filter(
      ({ source, destination }) => source !== destination && isThere(source) && isThere(destination),
    ),
    remarks,
    prompts: promptsOf(deps, concluded),
    usage: await usageOf(deps, concluded),
  };
}

/** Of what was said in one moment the earlier id comes first: ids made in one millisecond are in no order. */
function inThisOrder(statements: readonly Statement[]): readonly Statement[] {
  const ids = statements.map(({ id }) => id).sort();
  return statements.map((statement, i) => ({ ...statement, id: ids[i] ?? statement.id }));
}

type Saying = Pick<Claim, 'saidAt' | 'messageIds' | 'quote'>;
type Say = ReturnType<typeof sayingIn>;

/** What every statement has. */
function sayingIn({ tools }: EngineDeps, { study, plan }: Concluded) {
  const recordedAt = tools.now();
  const { consolidationId } = study;
  const bits = ownerBitsOf(tools, study);
  const memoriesOf = (messageIds: readonly string[]): readonly string[] => [
    ...new Set(
      (plan?.events ?? [])
        .filter(({ sourceIds }) => sourceIds.some((id) => messageIds.includes(id)))
        .map(({ memoryId }) => memoryId),
    ),
  ];
  return ({ saidAt, messageIds, quote }: Saying) => ({
    ...{
      id: tools.id('sta', bits),
      saidAt,
      recordedAt,
      consolidationId,
      messageIds,
      memoryIds: memoriesOf(messageIds),
      quote,
    },
  });
}

function statementOf(concluded: Concluded, claim: Claim, say: Say): Statement | null {
  const [source, destination] = [concluded.places[claim.source]?.id, concluded.places[claim.destination]?.id];
  // Two names that turned out to be of one.
  if (source === undefined || destination === undefined || source === destination) return null;
  const said = { ...say(claim), ...endsOf(concluded, { source, relationship: claim.relationship, destination }) };
  if (claim.said === 'denied') return { ...said, kind: 'denied' };
  if (claim.said === 'ended') return { ...said, kind: 'ended', at: claim.validFrom, reason: 'it is said' };
  const { validFrom, until, single } = claim;
  return { ...said, kind: 'holds', validFrom, until, single };
}

/** What holds from both ends is kept from one: from the owner's, else as it is kept already, else from the older one's. */
function endsOf({ self, mentions, places, neighbours }: Concluded, ends: Ends): Ends {
  const { source, relationship, destination } = ends;
  if (!isMutual(relationship)) return { source, relationship, destination };
  const selfId = self?.id ?? places[mentions.findIndex((mention) => mention.self)]?.id;
  const isKept = (from: string, to: string): boolean =>
    neighbours.some((one) => one.relationship === relationship && one.source === from && one.destination === to);
  const asIs =
    source === selfId ||
    (destination !== selfId && (isKept(source, destination) || (!isKept(destination, source) && source < destination)));
  return asIs ? { source, relationship, destination } : { source: destination, relationship, destination: source };
}

function merged({ merges, spoken, mentions }: Concluded, say: Say): readonly SameStatement[] {
  return merges.flatMap(({ source, destination, mention, reason }) => {
    const { name = '' } = mentions[mention] ?? {};
    const message = spoken.findLast(({ text }) => text.includes(name))?.message ?? spoken.at(-1)?.message;
    if (message === undefined) return [];
    const said = say({ saidAt: message.saidAt, messageIds: [message.id], quote: null });
    return [{ ...said, kind: 'same' as const, source, destination, reason }];
  });
}

const idsIn = (statements: readonly Statement[]): ReadonlySet<string> =>
  new Set(statements.flatMap((one) => ('destination' in one ? [one.source, one.destination] : [one.source])));

function newEntities({ mentions, places }: Concluded, ids: ReadonlySet<string>): readonly NewEntity[] {
  const made = new Map<string, NewEntity>();
  for (const [i, { name, kind, self }] of mentions.entries()) {
    const place = places[i];
    if (place?.isNew && ids.has(place.id) && !made.has(place.id))
      made.set(place.id, { id: place.id, name, kind, self });
  }
  return [...made.values()];
}

const promptsOf = (deps: EngineDeps, { asked, decided }: Concluded): readonly PromptUse[] => [
  ...(asked ? [promptUse(deps, EXTRACT_GRAPH)] : []),
  ...(decided ? [promptUse(deps, DECIDE_GRAPH)] : []),
];

/** Of all calls for this study, those without use included. */
async function usageOf({ ledger }: EngineDeps, { study, gathered }: Concluded): Promise<JsonObject> {
  const answers = (await ledger.thoughts.answers(study.consolidationId)).filter(({ step }) => step.startsWith(STEP));
  const models = usesOf(answers, gathered.rules.prices);
  return { calls: models.reduce((sum, { calls }) => sum + calls, 0), models: models.map((use) => ({ ...use })) };
}

/** That an entity is called so, and where. */
interface Naming extends Pick<Claim, 'saidAt' | 'messageIds' | 'quote'> {
  readonly source: string;
  readonly name: string;
}

/** Messages that one naming names. */
const MESSAGES_MAX = 5;

/** Every entity that statements are about, by all names that messages give it. */
function namings({ mentions, places, spoken }: Concluded, ids: ReadonlySet<string>): readonly Naming[] {
  const seen = new Set<string>();
  const heard = spoken.map((one) => ({ ...one, key: nameKey(one.text) }));
  return mentions.flatMap((mention, at) => {
    const source = places[at]?.id ?? '';
    if (!ids.has(source) && mention.aliases.length === 0) return [];
    return namesOf(mention).flatMap((name) => {
      const key = JSON.stringify([source, nameKey(name)]);
      const messages = heard.filter((one) => isNamedIn(nameKey(name), one.key)).slice(0, MESSAGES_MAX);
      const [first] = messages.length > 0 ? messages : heard;
      if (seen.has(key) || first === undefined) return [];
      seen.add(key);
      const messageIds = (messages.length > 0 ? messages : [first]).map(({ message }) => message.id);
      return [{ source, name, saidAt: first.message.saidAt, messageIds, quote: null }];
    });
  });
}

/** The owner is not called "User"; and who is known is not called what they are: "my boss". */
function namesOf({ name, aliases, self, known }: Mention): readonly string[] {
  if (self) return aliases;
  return known === null || isProper(name) ? [name, ...aliases] : [known.name, ...aliases];
}

/** A name of its own, rather than a word: where a script has capitals, they show it. */
const isProper = (name: string): boolean => /\p{Lu}/u.test(name) || !/\p{Ll}/u.test(name);

/** A relation that ends, and what was said that ends it. */
interface End {
  readonly relation: Pick<KeptRelation, 'source' | 'relationship' | 'destination'>;
  readonly by: Pick<Claim, 'saidAt' | 'messageIds' | 'quote'> & { readonly at: number };
  readonly reason: string;
}

/** Two entities that were there before, of which one is the other. */
interface Merge {
  readonly source: string;
  readonly destination: string;
  readonly mention: number;
  readonly reason: string;
}

interface Concluded extends Decided {
  readonly ends: readonly End[];
  readonly merges: readonly Merge[];
  readonly proposals: readonly MergeProposal[];
}

/** More of either in one study are refused: a model in doubt must not empty a graph. */
interface Limits {
  readonly ends: number;
}

/** A reason is a few words. In characters. */
const REASON_MAX = 200;

/** Makes of a model's decisions what will be done: unknown ids, other sources and too many ends are refused, with a remark. */
export function conclude(decided: Decided, limits: Limits): Concluded {
  const unread = decided.decisions.unread.map(({ text, reason }) => ({ asked: text, did: `refused: ${reason}` }));
  const remarks: Remark[] = [...decided.remarks, ...unread];
  const paired = concludePairs(decided, remarks);
  const joined = { ...decided, places: paired.places };
  const byRule = joined.claims.flatMap((claim) =>
    endedByRule(joined, claim).map((relation) => endOf(relation, claim, 'the opposite was said')),
  );
  const ends = [...byRule, ...decided.decisions.ends.flatMap((end) => decidedEnd(joined, end, remarks) ?? [])];
  const spoken = joined.claims.filter(({ said }) => said !== 'holds').length;
  const room = Math.max(0, limits.ends - spoken);
  for (const { relation, reason } of ends.slice(room)) {
    remarks.push({
      asked: `end ${relation.relationship}: ${reason}`,
      did: `refused: more than ${limits.ends} ends in one study`,
    });
  }
  return {
    ...joined,
    ...tooMany(joined.claims, limits, remarks),
    ends: ends.slice(0, room),
    merges: paired.merges,
    proposals: paired.proposals,
    remarks,
  };
}

function tooMany(claims: readonly Claim[], { ends }: Limits, remarks: Remark[]): { readonly claims: readonly Claim[] } {
  let left = ends;
  return {
    claims: claims.filter((one) => {
      if (one.said === 'holds') return true;
      left -= 1;
      if (left < 0)
        remarks.push({
          asked: `${one.said}: ${one.relationship}`,
          did: `refused: more than ${ends} ends in one study`,
        });
      return left >= 0;
    }),
  };
}

const endOf = (relation: End['relation'], { saidAt, messageIds, quote, validFrom }: Claim, reason: string): End => ({
  relation,
  by: { saidAt, messageIds, quote, at: validFrom },
  reason: reason.slice(0, REASON_MAX).toWellFormed(),
});

/** Who is one with whom: a new name joins its entity at once, of two that were there before one becomes the other. */
function concludePairs(
  { decisions, shownPairs, places, pairs }: Decided,
  remarks: Remark[],
): {
  readonly places: readonly Place[];
  readonly merges: readonly Merge[];
  readonly proposals: readonly MergeProposal[];
} {
  const verdicts = new Map<Pair, RawVerdict>();
  for (const verdict of decisions.pairs) {
    const pair = shownPairs.get(verdict.pair);
    if (pair === undefined)
      remarks.push({ asked: `pair ${verdict.pair}`.slice(0, REASON_MAX), did: 'refused: no such pair was shown' });
    else verdicts.set(pair, verdict);
  }
  const found = [...places];
  // Who is joined may have joined another one before.
  const standingAt = (id: string): Place => found[places.findIndex((place) => place.id === id)] ?? { id, isNew: false };
  const merges: Merge[] = [];
  for (const [{ mention, other }, { same, reason }] of verdicts) {
    const place = places[mention];
    if (!same || place === undefined) continue;
    if (place.isNew) joinAt(found, place.id, standingAt(other.id));
    else
      merges.push({
        source: laterOf(place.id, other.id),
        destination: earlierOf(place.id, other.id),
        mention,
        reason: reason.slice(0, REASON_MAX).toWellFormed(),
      });
  }
  const open = pairs.filter((pair) => !verdicts.has(pair) && found[pair.mention]?.id !== pair.other.id);
  const proposals = open.map(({ mention, other, likeness }) => ({
    source: found[mention]?.id ?? '',
    destination: other.id,
    likeness: Math.min(likeness, MERGE_FROM),
  }));
  return { places: found, merges, proposals };
}

type RawVerdict = Decided['decisions']['pairs'][number];

function joinAt(places: Place[], from: string, into: Place): void {
  for (const [i, { id }] of places.entries()) if (id === from) places[i] = into;
}

/** Ids show which was made first. */
const earlierOf = (a: string, b: string): string => (a < b ? a : b);
const laterOf = (a: string, b: string): string => (a < b ? b : a);

/** An end as the model wants it, where it makes sense; the later said ends the earlier said. */
function decidedEnd(decided: Decided, asked: Decided['decisions']['ends'][number], remarks: Remark[]): End | null {
  const refused = (why: string): null => {
    remarks.push({ asked: `end ${asked.relation} by ${asked.by}`.slice(0, REASON_MAX), did: `refused: ${why}` });
    return null;
  };
  const what = sideOf(decided, asked.relation);
  const by = sideOf(decided, asked.by ?? onlyDoubt(decided, asked.relation));
  if (what === null || by === null) return refused('no such relations were shown');
  if (what.claim === undefined && by.claim === undefined) return refused('neither of them is new');
  if (what.ends.source !== by.ends.source) return refused('they have different sources');
  if (compareSaid(by.saidAt, what.saidAt) < 0) return refused('it was said after the relation that should end it');
  const message = by.claim ?? what.claim;
  if (message === undefined) return null;
  return endOf(what.ends, { ...message, saidAt: by.saidAt, validFrom: by.validFrom }, asked.reason);
}

/** What a decision names, by its short id. */
function sideOf({ shownRelations, shownClaims, claims, places }: Decided, id: string | null) {
  const known = shownRelations.get(id ?? '');
  if (known !== undefined) return { claim: undefined, ends: known, saidAt: known.saidAt, validFrom: known.validFrom };
  const one = claims[shownClaims.get(id ?? '') ?? -1];
  const [source, destination] = [places[one?.source ?? -1]?.id, places[one?.destination ?? -1]?.id];
  if (one === undefined || source === undefined || destination === undefined) return null;
  const ends = { source, relationship: one.relationship, destination };
  return { claim: one, ends, saidAt: one.saidAt, validFrom: one.validFrom };
}

/** The only new relation that a known one is in doubt with. */
function onlyDoubt({ doubts, shownClaims, shownRelations }: Decided, id: string): string | null {
  const relation = shownRelations.get(id);
  const claims = doubts.filter(({ known }) => known.some((one) => one.id === relation?.id)).map((doubt) => doubt.claim);
  return claims.length === 1 ? ([...shownClaims].find(([, at]) => at === claims[0])?.[0] ?? null) : null;
}
