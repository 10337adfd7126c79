import { isWorthReading, spokenOf } from '../messages/messages.ts';
import type { SaidMessage, SpokenBatch } from '../ports/ledger/speech.ts';
import type { IndexPoint, Withdrawal } from '../ports/search-index.ts';
import { terms } from '../text/terms.ts';
import { cut } from '../text/tokens.ts';
import type { Message } from '../words.ts';
import { contextOfMessage } from './found-by.ts';

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
export const withdrawalsOfBatch = (batch: SpokenBatch): readonly Withdrawal[] =>
  batch.counts ? [] : batch.messages.filter(isSpoken).map(({ message }) => placeOf(batch, message));

/** Everything of a batch that an index needs a vector for. */
export const vectorTextsOf = (batch: SpokenBatch): string[] => shownIn(batch).map(({ message }) => vectorText(message));

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
