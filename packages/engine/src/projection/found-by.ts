import { isWorthReading, spokenOf } from '../messages/reading.ts';
import type { SaidMessage } from '../ports/ledger/outbox.ts';
import { dayText, dayTextHan } from '../text/dates.ts';
import { terms } from '../text/terms.ts';
import { cut } from '../text/tokens.ts';
import { isWithheld, type MemoryVersion, type Message, type Millis } from '../words.ts';

/** Messages by their ids, as far as the ledger has them. */
export type SaidById = ReadonlyMap<string, SaidMessage>;

/** For points that are asked about their texts alone. */
export const NOTHING_SAID: SaidById = new Map();

/** Of a version that was said again and again the last messages count: the more there are, the less each of them tells. */
const SOURCES_MAX = 6;
/** A long turn of a chat. Of a text that was pasted in, the beginning tells what it is about, and the rest of other things. */
const CHARACTERS_PER_MESSAGE = 2_000;
const TERMS_PER_MESSAGE = 120;
/** What a message answers was said in the same sitting; what was said before a longer pause is about something else. */
const SITTING_MS = 24 * 3_600_000;
const HAN = /\p{Script=Han}/u;

/** What a version came from, to be found by: its messages, what was said before each of them, the days, and who said it. */
export function contextOf(version: MemoryVersion, said: SaidById): { contextTerms: string[]; speaker: string | null } {
  const sources = version.details.sourceIds.slice(-SOURCES_MAX).flatMap((id) => said.get(id) ?? []);
  const texts = [...sources.map(({ message }) => message), ...sources.flatMap(priorOf)].map(textOf);
  const days = [version.saidAt.at, version.validFrom, ...sources.map(({ message }) => message.saidAt.at)];
  const speaker = speakerOf(version, sources);
  const told = [...new Set(texts)].flatMap(termsOf).concat(dayTerms(days, [version.text, ...texts]));
  return { contextTerms: [...told, ...terms(speaker ?? '')], speaker };
}

/** What a message stands in: what was said before it, the day, and who said it. */
export function contextOfMessage(said: SaidMessage): string[] {
  const prior = priorOf(said).map(textOf);
  const days = dayTerms([said.message.saidAt.at], [textOf(said.message), ...prior]);
  return [...prior.flatMap(termsOf), ...days, ...terms(said.message.name ?? '')];
}

/** Whether retention has removed in one what the other still has. */
export const saysLess = (one: SaidById, other: SaidById): boolean => wordsIn(one) < wordsIn(other);

const wordsIn = (said: SaidById): number =>
  [...said.values()]
    .flatMap(({ message, before }) => [message, ...(before === null ? [] : [before])])
    .filter(({ content }) => !isWithheld(content)).length;

const priorOf = ({ message, before }: SaidMessage): Message[] =>
  before !== null && message.saidAt.at - before.saidAt.at <= SITTING_MS ? [before] : [];

/** What retention has removed tells nothing. */
const textOf = (message: Message): string =>
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
