import type { Remark } from '../../plan.ts';
import { compareSaid } from '../../words.ts';
import { MERGE_FROM } from '../names.ts';
import type { KeptRelation, MergeProposal } from '../words.ts';
import { type Decided, endedByRule } from './decide.ts';
import type { Claim, Pair, Place } from './values.ts';

/** A relation that ends, and what was told that ends it. */
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

export interface Concluded extends Decided {
  readonly ends: readonly End[];
  readonly merges: readonly Merge[];
  readonly proposals: readonly MergeProposal[];
}

/** More of either in one study are refused: a model in doubt must not empty a graph. */
export interface Limits {
  readonly ends: number;
}

/** A reason is a few words. In characters. */
const REASON_MAX = 200;

/** Makes of a model's decisions what will be done: unknown ids, other sources and too many ends are refused, and told. */
export function conclude(decided: Decided, limits: Limits): Concluded {
  const unread = decided.decisions.unread.map(({ text, reason }) => ({ asked: text, did: `refused: ${reason}` }));
  const remarks: Remark[] = [...decided.remarks, ...unread];
  const paired = concludePairs(decided, remarks);
  const joined = { ...decided, places: paired.places };
  const byRule = joined.claims.flatMap((claim) =>
    endedByRule(joined, claim).map((relation) => endOf(relation, claim, 'the opposite is said')),
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

/** Ids tell which was made first. */
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
  if (what.claim === undefined && by.claim === undefined) return refused('none of the two is new');
  if (what.ends.source !== by.ends.source) return refused('they are of different sources');
  if (compareSaid(by.saidAt, what.saidAt) < 0) return refused('it was said later than what should end it');
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
