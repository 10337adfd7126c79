import type { EngineDeps, EngineSettings } from '../deps.ts';
import { spaceIn } from '../ids.ts';
import { deletedAt, indexedIds, listsOfOne } from '../memories/evolve.ts';
import { foundVersions, sightOf, sourcesOf } from '../memories/former.ts';
import { inApp, isShared } from '../memories/in-app.ts';
import { feedbackOf } from '../memories/ratings.ts';
import { attacksIn, countSaying, isWorthReading, spokenOf, trustOf } from '../messages/messages.ts';
import { embedTexts } from '../models/embed.ts';
import type { Credit } from '../ports/ledger/feedback.ts';
import type { MadeFrom, ProjectedBatch, SaidInLane, SaidMessage, SpokenBatch } from '../ports/ledger/outbox.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { dayText, dayTextHan } from '../text/dates.ts';
import { cut, normaliseText } from '../text/normalise.ts';
import { terms } from '../text/terms.ts';
import {
  isWithheld,
  type LaneId,
  type Memory,
  type MemoryVersion,
  type Message,
  type Millis,
  type TenantId,
} from '../words.ts';

export type MakingDeps = Pick<EngineDeps, 'ledger' | 'embedder' | 'tools'> & {
  readonly settings: Pick<EngineSettings, 'messagesInIndex'>;
};

/** What is projected of one lane. */
export interface LaneContents {
  readonly tenant: TenantId;
  readonly lane: LaneId;
  readonly memories: readonly Memory[];
  readonly batches: readonly SpokenBatch[];
  /** Vectors of messages that were made before. */
  readonly made?: ReadonlyMap<string, Float32Array> | undefined;
  /** What the memories came from, and what the outcomes of answers credit to them, where it was read with them. */
  readonly said?: SaidInLane | null | undefined;
  readonly credits?: readonly Credit[] | null | undefined;
}

export interface Made {
  readonly points: readonly IndexPoint[];
  readonly withdrawals: readonly Withdrawal[];
  readonly projected: readonly ProjectedBatch[];
  /** Whether the lane was not cut off when they were made. */
  readonly stands: boolean;
  readonly from: MadeFrom;
  /** The same by now, with the points that retention has changed meanwhile by removing what they were made from. */
  anew(): Promise<Pick<Made, 'points' | 'stands' | 'from'>>;
}

/** The one way in which points of the index are made from what the ledger holds: all vectors in one call. */
export async function makePoints(deps: MakingDeps, contents: LaneContents, cancel: Cancellation): Promise<Made> {
  const { lane, memories, made } = contents;
  const batches = shownBatches(deps, contents);
  const isEmbedded = deps.settings.messagesInIndex === 'hybrid';
  const ends = endsBefore(batches);
  const passing = isEmbedded ? [...batches, ...ends].flatMap(vectorTextsOf) : [];
  const memoryIds = memories.map(({ id }) => id);
  const [vectorOf, credited] = await Promise.all([
    embedTexts(deps, { lane, texts: memories.flatMap(textsOf), passing, made }, cancel),
    contents.credits ?? creditsOf(deps, memoryIds),
  ]);
  const none = new Float32Array(deps.embedder.dimensions);
  const speaking = { vectorOf: isEmbedded ? vectorOf : () => none };
  const spoken = new Map<string, readonly IndexPoint[]>();
  for (const batch of [...ends, ...batches]) {
    const made: IndexPoint[] = [];
    for (const said of shownIn(batch)) {
      made.push(pointOfMessage(batch, said, speaking));
      // One message at a time: a batch may have hundreds.
      await deps.tools.breathe();
    }
    spoken.set(batch.id, made);
  }
  const messageIds = sourcesOf(memories);
  const { stands, said } = contents.said ?? (await deps.ledger.speech.said(lane, messageIds));
  const from = (by: readonly SaidMessage[], credits: readonly Credit[]): MadeFrom => {
    return { lane, messageIds, saying: countSaying(by), memoryIds, credits };
  };
  const remembered = async (by: readonly SaidMessage[], credits: readonly Credit[]) => {
    const making = { vectorOf, said: byId(by), credits };
    const points: IndexPoint[] = [];
    for (const memory of memories) {
      points.push(...pointsOf(memory, making));
      await deps.tools.breathe();
    }
    return points;
  };
  return {
    points: [...(await remembered(said, credited)), ...[...spoken.values()].flat()],
    withdrawals: [...memories.flatMap(withdrawalsOf), ...batches.flatMap(withdrawalsOfBatch)],
    projected: contents.batches.map(({ id, revision }) => ({ id, revision, points: spoken.get(id)?.length ?? 0 })),
    stands,
    from: from(said, credited),
    anew: async () => {
      const [{ stands, said }, credits] = await Promise.all([
        deps.ledger.speech.said(lane, messageIds),
        creditsOf(deps, memoryIds),
      ]);
      return { stands, points: await remembered(said, credits), from: from(said, credits) };
    },
  };
}

/** What the outcomes of answers credit to memories, as far as points depend on it. */
export async function creditsOf(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  memoryIds: readonly string[],
): Promise<readonly Credit[]> {
  const credits = memoryIds.length === 0 ? [] : await ledger.receipts.credits(memoryIds);
  return credits.map(({ at: _, ...credit }) => credit);
}

/** A what-if is asked about its memories alone. */
const shownBatches = ({ settings }: MakingDeps, { tenant, batches }: LaneContents): readonly SpokenBatch[] =>
  settings.messagesInIndex === 'off' || spaceIn(tenant) !== null ? [] : batches;

/** Ten pages. What comes after them is read in the ledger, by whom the beginning has found it. */
const TEXT_CHARACTERS = 20_000;
/** A vector is one point for all of a text: of more than a page it would say nothing in particular. */
const VECTOR_CHARACTERS = 2_000;
/** A message does not change: it has one version, for ever. */
const VERSION = 1;

/**
 * The messages of a batch as the index holds them: what users and assistants said, once, with secrets masked. None of a
 * batch that does not count. `vectorOf` is asked for what `vectorText` says of each.
 */
export const pointsOfBatch = (batch: SpokenBatch, speaking: Speaking): readonly IndexPoint[] =>
  shownIn(batch).map((said) => pointOfMessage(batch, said, speaking));

interface Speaking {
  readonly vectorOf: (text: string) => Float32Array;
}

function pointOfMessage(batch: Spoken, { message, beside }: InTalk, { vectorOf }: Speaking): IndexPoint {
  const text = textOf(message);
  return {
    ...placeOf(batch, message),
    ...{
      scope: batch.scope,
      ids: listsOfOne(batch.scope),
      saidAt: message.saidAt,
      validFrom: message.saidAt.at,
      sourceIds: [message.id],
    },
    ...{ text, terms: terms(text), contextTerms: contextOfMessage(message, beside) },
    vector: vectorOf(vectorText(message)),
    ...{ speaker: message.name, category: message.role, metadata: batch.metadata, expiresAt: batch.expiresAt },
    ...{ live: true, invalidAt: null, deletedAt: null, immutable: false, confirmations: 0 },
    ...{ trust: trustOf(message), flagged: attacksIn(text).length > 0 },
    ...{ createdAt: batch.acceptedAt, updatedAt: batch.acceptedAt },
  };
}

/** What an index may once have had: of a batch that does not count any more all, of others the messages that say nothing now. */
const withdrawalsOfBatch = (batch: SpokenBatch): readonly Withdrawal[] =>
  batch.messages
    .filter((said) => isSpoken(said) && (!batch.counts || isWithheld(said.message.content)))
    .map(({ message }) => placeOf(batch, message));

/** Everything of a batch that an index needs a vector for. */
const vectorTextsOf = (batch: Spoken): string[] => shownIn(batch).map(({ message }) => vectorText(message));

/** The same of messages that are not applied yet. */
export const vectorTextsOfMessages = (messages: readonly Message[]): string[] =>
  messages.filter((message) => isSpoken({ message }) && isWorthReading(message)).map(vectorText);

type Spoken = Omit<SpokenBatch, 'goesOn'>;

/** The last messages of the batches that these go on, which are found by what is said next. Those that are made anyway are left out. */
function endsBefore(batches: readonly SpokenBatch[]): readonly Spoken[] {
  const ids = new Set(batches.map(({ id }) => id));
  return batches.flatMap(({ goesOn }) => (goesOn === null || ids.has(goesOn.id) ? [] : goesOn));
}

/** A message, and what was said beside it. */
interface InTalk {
  readonly message: Message;
  readonly beside: readonly Message[];
}

/**
 * What is beside a message: the two before it in its conversation, and the next one. It is the same however a conversation was
 * divided into batches.
 */
function shownIn({ counts, messages }: Spoken): readonly InTalk[] {
  if (!counts) return [];
  return messages
    .filter((said) => isSpoken(said) && isWorthReading(said.message))
    .map(({ message, before, earlier, next }) => ({
      message,
      beside: [before, earlier, next].filter((other) => other !== null && isOneSitting(message, other)) as Message[],
    }));
}

/** What tools print and systems instruct is nothing anybody said, and a copy that was sent again was said before. */
const isSpoken = ({ message: { role, resent } }: Pick<SaidMessage, 'message'>): boolean =>
  (role === 'user' || role === 'assistant') && !resent;

const textOf = (message: Message): string => cut(spokenOf(message).text, TEXT_CHARACTERS);
const vectorText = (message: Message): string => cut(textOf(message), VECTOR_CHARACTERS);

/** The text of a point's vector, as whoever made the point had it: the same for every embedder. */
export function vectorTextOf({ shelf, text, metadata }: Pick<IndexPoint, 'shelf' | 'text' | 'metadata'>): string {
  if (shelf === 'messages') return cut(text, VECTOR_CHARACTERS);
  return shelf === 'entities' ? String(metadata.name) : text;
}

const placeOf = ({ tenant, lane, owner, revision }: Spoken, { id }: Message) => ({
  ...{ shelf: 'messages' as const, tenant, lane, owner, memoryId: id, version: VERSION, revision },
});

/** The messages that memories of one lane came from, each with the one before it. */
export async function heard(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  lane: LaneId,
  memories: readonly Memory[],
): Promise<SaidById> {
  return byId((await ledger.speech.said(lane, sourcesOf(memories))).said);
}

/** What points are made with beside their memory. */
interface Making {
  readonly vectorOf: (text: string) => Float32Array;
  /** The messages that versions came from. */
  readonly said: SaidById;
  /** What the outcomes of answers credit to the versions. Missing: nothing. */
  readonly credits?: readonly Credit[];
}

/** Every version of a memory as the index holds it: all but those of which retention has left nothing to find. */
export function pointsOf(memory: Memory, { vectorOf, said, credits = [] }: Making): readonly IndexPoint[] {
  const deleted = deletedAt(memory);
  const sight = sightOf(memory, deleted !== null);
  const toldLast = toldLastOf(memory);
  const feedback = feedbackOf(memory, credits);
  return foundVersions(memory).map((version) => ({
    ...placeOfMemory(memory),
    ...versionPart(version),
    ...sight(version),
    ...toldLast(version),
    ...feedbackPart(feedback(version.number)),
    deletedAt: deleted,
    vector: vectorOf(version.text),
    terms: terms(version.text),
    ...contextOf(version, said),
  }));
}

const feedbackPart = (feedback: number) => (feedback === 0 ? {} : { feedback });

/** The apps that were told each version last, of those that the index has. */
function toldLastOf(memory: Memory): (version: MemoryVersion) => Pick<IndexPoint, 'toldLast'> {
  const told = indexedIds(memory).appId.map((appId) => {
    const known = inApp(memory, appId);
    const sight = known === null || deletedAt(known) !== null ? null : sightOf(known, false);
    const live = sight === null ? [] : foundVersions(known ?? memory).filter((version) => sight(version).live);
    return { appId, shared: isShared(memory, appId), texts: new Set(live.map(({ text }) => normaliseText(text))) };
  });
  return ({ text }) => {
    const of = told.filter(({ texts }) => texts.size > 0 && texts.has(normaliseText(text)));
    if (of.length === 0) return {};
    const those = (shared: boolean): string[] => of.filter((one) => one.shared === shared).map(({ appId }) => appId);
    return { toldLast: { alone: those(false), shared: those(true) } };
  };
}

/**
 * Versions an index may once have had and has no more: their numbers are those of marks, only what is undone takes a
 * mark out of the versions, retention leaves it there without a text, and what is forgotten is found by nobody.
 */
export function withdrawalsOf(memory: Memory): readonly Withdrawal[] {
  const { tenant, owner, lane, id, revision, timeline, versions } = memory;
  const found = foundVersions(memory);
  const isWhole = !timeline.some(({ kind }) => kind === 'retracted') && found.length === versions.length;
  if (isWhole) return [];
  const numbers = new Set(found.map(({ number }) => number));
  const gone = timeline.filter((mark) => mark.kind === 'said' && !numbers.has(mark.revision));
  return gone.map((mark) => ({
    shelf: 'memories',
    tenant,
    owner,
    lane,
    memoryId: id,
    version: mark.revision,
    revision,
  }));
}

const placeOfMemory = (memory: Memory) => ({
  shelf: 'memories' as const,
  tenant: memory.tenant,
  lane: memory.lane,
  owner: memory.owner,
  scope: memory.scope,
  ids: indexedIds(memory),
  memoryId: memory.id,
  revision: memory.revision,
  confirmations: memory.confirmations,
  createdAt: memory.createdAt,
  updatedAt: memory.updatedAt,
});

const versionPart = (version: MemoryVersion) => ({
  version: version.number,
  text: version.text,
  saidAt: version.saidAt,
  validFrom: version.validFrom,
  ...(version.details.utcOffset !== undefined && { utcOffset: version.details.utcOffset }),
  invalidAt: version.invalidAt,
  expiresAt: version.details.expiresAt,
  category: version.details.category,
  metadata: version.details.metadata,
  immutable: version.details.immutable,
  trust: version.details.trust,
  flagged: version.details.flagged ?? false,
  ...(version.details.concluded !== undefined && { concluded: version.details.concluded }),
  ...(version.details.skill !== undefined && { skill: version.details.skill }),
  sourceIds: version.details.sourceIds,
});

/** Everything of a memory that an index needs a vector for. */
export const textsOf = (memory: Memory): string[] => foundVersions(memory).map((version) => version.text);

/** Messages by their ids, as far as the ledger has them. */
type SaidById = ReadonlyMap<string, SaidMessage>;

const byId = (said: readonly SaidMessage[]): SaidById => new Map(said.map((one) => [one.message.id, one]));

/** For points that are asked about their texts alone. */
export const NOTHING_SAID: SaidById = new Map();

/** Of a version that was said again and again the last messages count: the more there are, the less each of them says. */
const SOURCES_MAX = 6;
/** A long turn of a chat. Of a text that was pasted in, the beginning says what it is about, and the rest of other things. */
const CHARACTERS_PER_MESSAGE = 2_000;
const TERMS_PER_MESSAGE = 120;
/** What a message answers was said in the same sitting; what was said before a longer pause is about something else. */
const SITTING_MS = 24 * 3_600_000;
const HAN = /\p{Script=Han}/u;

/** What a version came from, to be found by: its messages, what was said before each of them, the days, and who said it. */
export function contextOf(version: MemoryVersion, said: SaidById): { contextTerms: string[]; speaker: string | null } {
  const sources = version.details.sourceIds.slice(-SOURCES_MAX).flatMap((id) => said.get(id) ?? []);
  const texts = [...sources.map(({ message }) => message), ...sources.flatMap(priorOf)].map(readOf);
  const days = [version.saidAt.at, version.validFrom, ...sources.map(({ message }) => message.saidAt.at)];
  const speaker = speakerOf(version, sources);
  const context = [...new Set(texts)].flatMap(termsOf).concat(dayTerms(days, [version.text, ...texts]));
  return { contextTerms: [...context, ...terms(speaker ?? '')], speaker };
}

/** What a message stands in: what was said beside it, the day, and who said it. */
function contextOfMessage(message: Message, beside: readonly Message[]): string[] {
  const near = beside.map(readOf);
  const days = dayTerms([message.saidAt.at], [readOf(message), ...near]);
  return [...near.flatMap(termsOf), ...days, ...terms(message.name ?? '')];
}

const priorOf = ({ message, before }: SaidMessage): Message[] =>
  before !== null && isOneSitting(message, before) ? [before] : [];

const isOneSitting = (a: Message, b: Message): boolean => Math.abs(a.saidAt.at - b.saidAt.at) <= SITTING_MS;

/** What retention has removed says nothing. */
const readOf = (message: Message): string =>
  isWorthReading(message) ? cut(spokenOf(message).text, CHARACTERS_PER_MESSAGE) : '';

const termsOf = (text: string): string[] => terms(text).slice(0, TERMS_PER_MESSAGE);

/** Days as they are named in the language of what was said. */
function dayTerms(days: readonly Millis[], texts: readonly string[]): string[] {
  const isHan = texts.some((text) => HAN.test(text));
  return [...new Set(days.flatMap((at) => terms(`${dayText(at)} ${isHan ? dayTextHan(at) : ''}`)))];
}

/** Who said it, by name: a user what is about the user, an assistant what is about the agent, else whoever has a name. */
function speakerOf({ details }: MemoryVersion, sources: readonly SaidMessage[]): string | null {
  const named = sources.map(({ message }) => message).filter(({ name }) => name !== null);
  const teller = named.find(({ role }) => role === (details.about === 'agent' ? 'assistant' : 'user'));
  return (teller ?? named[0])?.name ?? null;
}
