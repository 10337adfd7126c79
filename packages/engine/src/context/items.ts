import { isWorthReading, textOfContent } from '../messages/reading.ts';
import { clockText } from '../messages/said-when.ts';
import type { PendingMessage } from '../ports/ledger/summaries.ts';
import type { Tokenizer } from '../ports/models.ts';
import { dateTextOf } from '../text/dates.ts';
import { cleanText, normaliseText } from '../text/normalise.ts';
import { overlap } from '../text/terms.ts';
import { onOneLine, quoted } from './inert.ts';
import type {
  ContextAsk,
  FactItem,
  GivenMessage,
  KnownFact,
  KnownRelation,
  PendingItem,
  RelationItem,
  SummaryItem,
} from './parts.ts';

/** No single memory or message takes more than this part of the room: the others would have none. */
const ITEM_PART = 1 / 4;
/** What a chat model's format adds to each turn. */
export const TURN_TOKENS = 4;
/** A mark and a line break, counted with each line before the marks are known. */
const SAMPLE_MARK = '[m10] ';

export const markedLine = (mark: string, { validFrom, utcOffset }: KnownFact, line: string): string =>
  `- ${mark}${dateTextOf(validFrom, utcOffset)} ${line}\n`;

export interface Room {
  readonly tokenizer: Tokenizer;
  readonly maxTokens: number;
}

/** Facts as lines, as many as there could be room for. */
export function factItems(room: Room, section: FactItem['section'], facts: readonly KnownFact[]): FactItem[] {
  return whileRoom(room, facts, (fact) => {
    const line = cutAtWord(room.tokenizer, onOneLine(fact.text), partOf(room));
    if (line === null || line === '') return null;
    const tokens = room.tokenizer.count(markedLine(SAMPLE_MARK, fact, line));
    return { section, fact, line, tokens, prepared: prepared(fact.text) };
  });
}

/** A summary of at most so many tokens. */
export function summaryItems(tokenizer: Tokenizer, summary: string | null, maxTokens: number): SummaryItem[] {
  const line = summary === null ? null : cutAtWord(tokenizer, onOneLine(summary), maxTokens - LINE_SIGNS);
  if (line === null || line === '') return [];
  return [{ section: 'summary', line, tokens: tokenizer.count(summaryLine(line)) }];
}

/** What stands around a line, in tokens at most. */
const LINE_SIGNS = 3;

export const summaryLine = (line: string): string => `> ${line}\n`;

/** Relations as lines, as many as there could be room for. They are not cited: no memory says quite that. */
export function relationItems(room: Room, relations: readonly KnownRelation[]): RelationItem[] {
  return whileRoom(room, relations, ({ text, validFrom }) => {
    const said = cutAtWord(room.tokenizer, onOneLine(text), partOf(room));
    if (said === null || said === '') return null;
    const line = `- ${dateTextOf(validFrom, undefined)} ${said}\n`;
    return { section: 'relations', line, tokens: room.tokenizer.count(line) };
  });
}

/** Messages that wait, newest first, as many as there could be room for. */
export function pendingItems(room: Room, pending: readonly PendingMessage[], form: ContextAsk['form']): PendingItem[] {
  return whileRoom(room, pending.toReversed(), (message) => {
    const whole = message.content === null ? TOO_LONG : cleanText(textOfContent(message.content)).trim();
    const text = cutAtWord(room.tokenizer, whole, partOf(room)) ?? TOO_LONG;
    const line = pendingLine(message, text);
    const tokens = form === 'turns' ? TURN_TOKENS + room.tokenizer.count(text) : room.tokenizer.count(line);
    return { section: 'pending', message, text, line, tokens, isCut: text !== whole || message.content === null };
  });
}

const TOO_LONG = '[a message too long to be shown]';

/** Messages that are worth telling: not those of the system, nor those the caller tells itself. */
export function worthShowing(pending: readonly PendingMessage[], given: readonly GivenMessage[]): PendingMessage[] {
  const isGiven = givenOnes(given);
  return pending.filter((message) => isOfTheTalk(message) && !isGiven(message));
}

/** System messages are the product's words, not the conversation's. */
const isOfTheTalk = ({ role, content }: PendingMessage): boolean =>
  role !== 'system' && (content === null || isWorthReading({ content }));

/** Whether the caller has a message in its prompt already: by its id, else by its words. */
function givenOnes(given: readonly GivenMessage[]): (message: PendingMessage) => boolean {
  const ids = new Set(given.map(({ clientId }) => clientId).filter((id) => id !== null));
  const words = new Set(given.map(({ role, text }) => `${role}\n${normaliseText(text)}`));
  return ({ clientId, role, content }) =>
    (clientId !== null && ids.has(clientId)) ||
    (content !== null && words.has(`${role}\n${normaliseText(textOfContent(content))}`));
}

function pendingLine({ role, name, ...said }: PendingMessage, text: string): string {
  const speaker = name === null ? role : `${role} ${onOneLine(name)}`;
  return `- ${speaker}, ${clockText(said).slice(0, MINUTE).replace('T', ' ')}: ${quoted(text)}\n`;
}

/** 2026-03-09T10:00 */
const MINUTE = 16;

const partOf = ({ maxTokens }: Room): number => Math.floor(maxTokens * ITEM_PART);

/** Counting takes time: nothing is counted that could not be told even if it were alone. */
function whileRoom<From, To extends { tokens: number }>(
  { maxTokens }: Room,
  all: readonly From[],
  make: (one: From) => To | null,
): To[] {
  const made: To[] = [];
  let tokens = 0;
  for (const one of all) {
    if (tokens > maxTokens) break;
    const item = make(one);
    if (item === null) continue;
    made.push(item);
    tokens += item.tokens;
  }
  return made;
}

const ELLIPSIS = '…';
/** Prose has four characters to a token, rarely eight: what is longer is cut before it is counted, which takes time. */
const CHARACTERS_PER_TOKEN_MAX = 8;

const words = new Intl.Segmenter(undefined, { granularity: 'word' });

/**
 * A text of at most so many tokens: as it is, or its beginning up to the end of a word, with an ellipsis. null where not
 * even its first word fits.
 */
export function cutAtWord(tokenizer: Tokenizer, text: string, maxTokens: number): string | null {
  const beginning = text.slice(0, Math.max(0, maxTokens) * CHARACTERS_PER_TOKEN_MAX);
  if (beginning.length === text.length && tokenizer.count(text) <= maxTokens) return text;
  const ends = endsOfWords(beginning);
  const partTo = (end: number): string => beginning.slice(0, end).trimEnd() + ELLIPSIS;
  let fits = -1;
  let tooLong = ends.length;
  while (tooLong - fits > 1) {
    const middle = (fits + tooLong) >> 1;
    if (tokenizer.count(partTo(ends[middle] ?? 0)) <= maxTokens) fits = middle;
    else tooLong = middle;
  }
  return fits === -1 ? null : partTo(ends[fits] ?? 0);
}

/** Where words end that are whole for certain: the last one may go on behind the beginning that is looked at. */
function endsOfWords(beginning: string): number[] {
  const ends: number[] = [];
  for (const { index, segment, isWordLike } of words.segment(beginning)) {
    if (isWordLike === true) ends.push(index + segment.length);
  }
  return ends.filter((end) => end < beginning.length);
}

/** Shared words among all words, from which on two texts that are worded in the same order tell the same. */
const NEAR = 0.8;

/** A text, prepared for being compared with many. */
export interface Prepared {
  readonly normal: string;
  /** As they are spelled, for a quick look: the decisions of a consolidation have compared the texts with more care. */
  readonly words: readonly string[];
  readonly wordSet: ReadonlySet<string>;
  /** What makes another fact of the same words: numbers and negations. */
  readonly turns: string;
}

export function prepared(text: string): Prepared {
  const normal = normaliseText(text);
  const words = normal.match(WORDS) ?? [];
  return { normal, words, wordSet: new Set(words), turns: (normal.match(TURNS) ?? []).join(' ') };
}

/**
 * Whether it is enough to tell one of two facts: the same words, or nearly, in the same order ("Ann loves Bob" is not
 * "Bob loves Ann"), with the same numbers, denied as often. In doubt both are told.
 */
export function saySame(a: Prepared, b: Prepared): boolean {
  if (a.normal === b.normal) return true;
  if (a.turns !== b.turns || a.words.length === 0 || overlap(a.wordSet, b.wordSet) < NEAR) return false;
  return a.words.length <= b.words.length ? isWithin(a.words, b.words) : isWithin(b.words, a.words);
}

const WORDS = /\p{Script=Han}|[\p{L}\p{M}\p{N}]+/gu;

const TURNS =
  /\p{N}+|\b(?:not?|never|nor|none|cannot|without|longer|stopped|former|formerly)\b|n['’]t|[不没無无别非未勿]/gu;

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0;
  for (const word of whole) if (word === part[found]) found += 1;
  return found === part.length;
}
