import type { EngineDeps } from '../../deps.ts';
import { ownerBitsOf } from '../../ids.ts';
import { promptUse } from '../../models/ask.ts';
import { usesOf } from '../../models/limits.ts';
import { DECIDE_GRAPH } from '../../models/prompts/decide-graph.ts';
import { EXTRACT_GRAPH } from '../../models/prompts/extract-graph.ts';
import type { PromptUse } from '../../plan.ts';
import type { JsonObject } from '../../words.ts';
import { isNamedIn, nameKey } from '../names.ts';
import { isMutual } from '../relationships.ts';
import type { EndedStatement, Ends, GraphPlan, NewEntity, SameStatement, Statement } from '../words.ts';
import type { Concluded } from './conclude.ts';
import { type Claim, type Mention, STEP } from './values.ts';

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

/** Messages that one naming tells of. */
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

/** A name of its own, rather than a word: where a script has capitals, they tell. */
const isProper = (name: string): boolean => /\p{Lu}/u.test(name) || !/\p{Ll}/u.test(name);
