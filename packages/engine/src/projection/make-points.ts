import type { EngineDeps, EngineSettings } from '../deps.ts';
import { pointsOf, sourcesOf, textsOf, withdrawalsOf } from '../memories/standing.ts';
import { isWorthReading, spokenOf } from '../messages/reading.ts';
import { embedTexts } from '../models/embed.ts';
import type { ProjectedBatch, SaidMessage, SpokenBatch } from '../ports/ledger/outbox.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import type { Cancellation } from '../ports/tools.ts';
import { spaceIn } from '../replays/space.ts';
import { terms } from '../text/terms.ts';
import { cut } from '../text/tokens.ts';
import type { LaneId, Memory, Message, TenantId } from '../words.ts';
import { contextOfMessage, type SaidById, saysLess } from './found-by.ts';

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
}

export interface Made {
  readonly points: readonly IndexPoint[];
  readonly withdrawals: readonly Withdrawal[];
  readonly projected: readonly ProjectedBatch[];
  /** Whether the lane was not cut off when they were made. */
  readonly stands: boolean;
  /** The same by now: whether it stands, and the points that retention has changed meanwhile by removing what they were made of. */
  anew(): Promise<{ readonly stands: boolean; readonly points: readonly IndexPoint[] }>;
}

/** The one way in which points of the index are made from what the ledger holds: all vectors in one call. */
export async function makePoints(deps: MakingDeps, contents: LaneContents, cancel: Cancellation): Promise<Made> {
  const { lane, memories, made } = contents;
  const batches = shownBatches(deps, contents);
  const isEmbedded = deps.settings.messagesInIndex === 'hybrid';
  const passing = isEmbedded ? batches.flatMap(vectorTextsOf) : [];
  const vectorOf = await embedTexts(deps, { lane, texts: memories.flatMap(textsOf), passing, made }, cancel);
  const none = new Float32Array(deps.embedder.dimensions);
  const making = { vectorOf: isEmbedded ? vectorOf : () => none };
  const spoken = new Map<string, readonly IndexPoint[]>();
  for (const batch of batches) spoken.set(batch.id, await eachOf(deps, batch, (part) => pointsOfBatch(part, making)));
  const { stands, said } = await heard(deps, lane, memories);
  const remembered = async (by: SaidById) => {
    const points: IndexPoint[] = [];
    for (const memory of memories) {
      points.push(...pointsOf(memory, { vectorOf, said: by }));
      await deps.tools.breathe();
    }
    return points;
  };
  return {
    points: [...(await remembered(said)), ...[...spoken.values()].flat()],
    withdrawals: [...memories.flatMap(withdrawalsOf), ...batches.flatMap(withdrawalsOfBatch)],
    projected: contents.batches.map(({ id, revision }) => ({ id, revision, points: spoken.get(id)?.length ?? 0 })),
    stands,
    anew: async () => {
      const now = await heard(deps, lane, memories);
      return { stands: now.stands, points: saysLess(now.said, said) ? await remembered(now.said) : [] };
    },
  };
}

/** One message at a time: a batch may have hundreds. */
async function eachOf<T>(
  { tools }: MakingDeps,
  batch: SpokenBatch,
  make: (part: SpokenBatch) => readonly T[],
): Promise<readonly T[]> {
  const made: T[] = [];
  for (const message of batch.messages) {
    made.push(...make({ ...batch, messages: [message] }));
    await tools.breathe();
  }
  return made;
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
export const pointsOfBatch = (
  batch: SpokenBatch,
  { vectorOf }: { readonly vectorOf: (text: string) => Float32Array },
): readonly IndexPoint[] =>
  shownIn(batch).map((said) => {
    const { message } = said;
    const text = textOf(message);
    return {
      ...placeOf(batch, message),
      ...{ scope: batch.scope, saidAt: message.saidAt, validFrom: message.saidAt.at, sourceIds: [message.id] },
      ...{ text, terms: terms(text), contextTerms: contextOfMessage(said), vector: vectorOf(vectorText(message)) },
      ...{ speaker: message.name, category: message.role, metadata: batch.metadata, expiresAt: batch.expiresAt },
      ...{ live: true, invalidAt: null, deletedAt: null, immutable: false, confirmations: 0 },
      ...{ createdAt: batch.acceptedAt, updatedAt: batch.acceptedAt },
    };
  });

/** What an index may once have had of a batch that does not count any more. */
const withdrawalsOfBatch = (batch: SpokenBatch): readonly Withdrawal[] =>
  batch.counts ? [] : batch.messages.filter(isSpoken).map(({ message }) => placeOf(batch, message));

/** Everything of a batch that an index needs a vector for. */
const vectorTextsOf = (batch: SpokenBatch): string[] => shownIn(batch).map(({ message }) => vectorText(message));

/** The same of messages that are not applied yet. */
export const vectorTextsOfMessages = (messages: readonly Message[]): string[] =>
  messages.filter((message) => isSpoken({ message }) && isWorthReading(message)).map(vectorText);

const shownIn = ({ counts, messages }: SpokenBatch): readonly SaidMessage[] =>
  counts ? messages.filter((said) => isSpoken(said) && isWorthReading(said.message)) : [];

/** What tools print and systems instruct is nothing anybody said, and a copy that was sent again was said before. */
const isSpoken = ({ message: { role, resent } }: Pick<SaidMessage, 'message'>): boolean =>
  (role === 'user' || role === 'assistant') && !resent;

const textOf = (message: Message): string => cut(spokenOf(message).text, TEXT_CHARACTERS);
const vectorText = (message: Message): string => cut(textOf(message), VECTOR_CHARACTERS);

const placeOf = ({ tenant, lane, owner, revision }: SpokenBatch, { id }: Message) => ({
  ...{ shelf: 'messages' as const, tenant, lane, owner, memoryId: id, version: VERSION, revision },
});

interface Heard {
  readonly stands: boolean;
  readonly said: SaidById;
}

/** The messages that memories of one lane came from, each with the one before it, and whether it stands: one question. */
export async function heard(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  lane: LaneId,
  memories: readonly Memory[],
): Promise<Heard> {
  const ids = [...new Set(memories.flatMap(sourcesOf))];
  const { stands, said } = await ledger.speech.said(lane, ids);
  return { stands, said: new Map(said.map((one) => [one.message.id, one])) };
}
