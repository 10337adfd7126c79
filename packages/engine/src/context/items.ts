import { clockText, isWorthReading, textOfContent } from '../messages/messages.ts';
import type { PendingMessage } from '../ports/ledger/summaries.ts';
import type { Tokenizer } from '../ports/models.ts';
import { dateTextOf } from '../text/dates.ts';
import { cleanText, normaliseText } from '../text/normalise.ts';
import { overlap } from '../text/terms.ts';
import type { Certainty, Millis, UtcOffset } from '../words.ts';
import type { Item } from './assemble.ts';

/** No single memory or message takes more than this part of the room: the others would have none. */
const ITEM_PART = 1 / 4;
/** What a chat model's format adds to each turn. */
export const TURN_TOKENS = 4;
/** A mark and a line break, counted with each line before the marks are known. */
const SAMPLE_MARK = '[m10] ';

export const markedLine = (mark: string, fact: KnownFact, line: string): string =>
  `- ${mark}${dateTextOf(fact.validFrom, fact.utcOffset)} ${standingOf(fact)}${line}\n`;

/** What a model has to know of a line beside what it says. */
function standingOf({ certainty, successes }: KnownFact): string {
  if (certainty !== undefined) return `(inferred, certainty ${certainty}) `;
  return successes === undefined ? '' : `(skill, went well ${successes} times) `;
}

export interface Room {
  readonly tokenizer: Tokenizer;
  readonly maxTokens: number;
}

/** Facts as lines, as many as there could be room for. */
export function factItems(room: Room, section: FactItem['section'], facts: readonly KnownFact[]): FactItem[] {
  return whileRoom(room, facts, (fact) => factItem(room, section, fact));
}

/** A fact as a line; null where it says nothing. */
export function factItem(room: Room, section: FactItem['section'], fact: KnownFact): FactItem | null {
  const line = cutAtWord(room.tokenizer, onOneLine(fact.text), partOf(room));
  if (line === null || line === '') return null;
  const tokens = room.tokenizer.count(markedLine(SAMPLE_MARK, fact, line));
  return { section, fact, line, tokens, prepared: prepared(fact.text) };
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

/** What a run works on as lines, as many as there could be room for. */
export function taskItems(room: Room, task: readonly string[]): TaskItem[] {
  return whileRoom(room, task, (said) => {
    const text = cutAtWord(room.tokenizer, onOneLine(said), partOf(room));
    if (text === null || text === '') return null;
    const line = `- ${text}\n`;
    return { section: 'task', line, tokens: room.tokenizer.count(line) };
  });
}

/** Relations as lines, as many as there could be room for. They are not cited: no memory says quite that. */
export function relationItems(room: Room, relations: readonly KnownRelation[]): RelationItem[] {
  return whileRoom(room, relations, (relation) => {
    const said = cutAtWord(room.tokenizer, onOneLine(relation.text), partOf(room));
    if (said === null || said === '') return null;
    const line = `- ${dateTextOf(relation.validFrom)} ${said}\n`;
    return { section: 'relations', line, tokens: room.tokenizer.count(line), relation };
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

/** Messages that are worth showing: not those of the system, nor those the caller gives itself. */
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

/** Counting takes time: nothing is counted that could not be shown even if it were alone. */
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

let segmenter: Intl.Segmenter | null = null;

/** Made when first asked for: it loads dictionaries, and would delay the start of every process. */
function words(): Intl.Segmenter {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  return segmenter;
}

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
  for (const { index, segment, isWordLike } of words().segment(beginning)) {
    if (isWordLike === true) ends.push(index + segment.length);
  }
  return ends.filter((end) => end < beginning.length);
}

/** Shared words among all words, from which on two texts that are worded in the same order say the same. */
const NEAR = 0.8;

/** A text, prepared for being compared with many. */
interface Prepared {
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
 * Whether it is enough to show one of two facts: the same words, or nearly, in the same order ("Ann loves Bob" is not
 * "Bob loves Ann"), with the same numbers, denied as often. In doubt both are shown.
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

export const SECTIONS = ['profile', 'memories', 'relations', 'summary', 'task', 'pending'] as const;
/** In the order in which a prompt is given them: from what changes least to what was said last. */
export type SectionName = (typeof SECTIONS)[number];

/** A memory version that a prompt may be given. */
export interface KnownFact {
  readonly memoryId: string;
  readonly version: number;
  readonly text: string;
  readonly saidAt: Millis;
  readonly validFrom: Millis;
  /** Of the local time in which it was said; missing: UTC. */
  readonly utcOffset?: UtcOffset;
  /** Of what nobody said. Missing: somebody did. */
  readonly certainty?: Certainty;
  /** Of a skill: how often it went well. Missing: it is none. */
  readonly successes?: number;
}

/** A relation of the graph that a prompt may be given. */
export interface KnownRelation {
  readonly id: string;
  /** How it reads: "Ana works at Acme". */
  readonly text: string;
  readonly validFrom: Millis;
}

/** What there is to show. */
export interface ContextParts {
  /** The most settled first. */
  readonly profile: readonly KnownFact[];
  /** The best first. */
  readonly memories: readonly KnownFact[];
  /** The best first. */
  readonly relations: readonly KnownRelation[];
  readonly summary: string | null;
  /** What the run works on, line by line; what matters most first. */
  readonly task: readonly string[];
  /** In the order they were said. */
  readonly pending: readonly PendingMessage[];
  /** Facts that the conversation was told before, in the order in which they stood. */
  readonly told: readonly ToldFact[];
}

/** A turn the caller has in its prompt anyway. */
interface GivenMessage {
  readonly clientId: string | null;
  readonly role: string;
  readonly text: string;
}

export interface ContextAsk {
  readonly maxTokens: number;
  /** text: one block. turns: a block, and pending messages as turns of their own. */
  readonly form: 'text' | 'turns';
  /** Whether turns have to take turns, and begin with the user's. */
  readonly alternating: boolean;
  readonly given: readonly GivenMessage[];
  /** The moment that is asked about. */
  readonly now: Millis;
}

interface Line<Kind extends SectionName> extends Item {
  readonly section: Kind;
  /** As it will stand in the block, without its citation mark. */
  readonly line: string;
}

export interface FactItem extends Line<'profile' | 'memories'> {
  readonly fact: KnownFact;
  readonly prepared: Prepared;
}
type SummaryItem = Line<'summary'>;
type TaskItem = Line<'task'>;
export interface RelationItem extends Line<'relations'> {
  readonly relation: KnownRelation;
}
export interface PendingItem extends Line<'pending'> {
  readonly message: PendingMessage;
  readonly text: string;
  readonly isCut: boolean;
}
export type ContextItem = FactItem | SummaryItem | TaskItem | RelationItem | PendingItem;

export const isFact = (item: ContextItem): item is FactItem =>
  item.section === 'profile' || item.section === 'memories';

export interface ChatTurn {
  readonly role: 'user' | 'assistant';
  readonly content: string;
}

export interface Citation {
  /** m1, m2, … as the block marks them. */
  readonly ref: string;
  readonly section: 'profile' | 'memories';
  readonly fact: KnownFact;
}

/** A block, and what it was made of. */
export interface AssembledContext {
  /** Empty where there is nothing to show. */
  readonly block: string;
  /** Of the form `turns`. */
  readonly turns: readonly ChatTurn[];
  readonly tokens: number;
  readonly citations: readonly Citation[];
  /** Those that are shown. */
  readonly relations: readonly KnownRelation[];
  readonly pending: readonly PendingItem[];
  /** The facts of the block, for the next one of the conversation. */
  readonly told: readonly ToldLine[];
  /** How many items of each section are shown, and how many are not, for want of room or being shown already. */
  readonly sections: Readonly<Record<SectionName, { readonly shown: number; readonly leftOut: number }>>;
}

/** Said where what came before the first turn is not shown. */
const OPENING: ChatTurn = { role: 'user', content: '(The conversation before this is not shown.)' };

/** Waiting messages as turns of a chat, oldest first. */
export function turnsOf(pending: readonly PendingItem[], alternating: boolean): readonly ChatTurn[] {
  const turns = pending.map(turnOf);
  if (!alternating) return turns;
  const joined: ChatTurn[] = [];
  for (const turn of turns[0]?.role === 'assistant' ? [OPENING, ...turns] : turns) {
    const last = joined.at(-1);
    if (last?.role !== turn.role) joined.push(turn);
    else joined[joined.length - 1] = { role: turn.role, content: `${last.content}\n\n${turn.content}` };
  }
  return joined;
}

/**
 * What a tool gave is shown to the model as data from outside: its own role needs the call it answers, which is not
 * known here. Nobody's words become the system's.
 */
function turnOf({ message: { role, name }, text }: PendingItem): ChatTurn {
  if (role === 'assistant') return { role, content: text };
  if (role === 'tool') return { role: 'user', content: `(Result of a tool: ${quoted(text)})` };
  return { role: 'user', content: name === null ? text : `${onOneLine(name)}: ${text}` };
}

/*
 * What a conversation was told keeps its place in the next block, and what is new comes after it: then a provider's prompt cache
 * knows the beginning of the next prompt. A line goes at once when it no longer holds, whatever that costs. One that holds and is
 * not asked for any more stays for a while.
 */

/** A memory version that the conversation was told before. */
export interface ToldLine {
  readonly memoryId: string;
  readonly version: number;
  readonly section: FactItem['section'];
  /** How many turns ago it was last asked for; 0: in the last one. */
  readonly turns: number;
}

/** The same with what it says now. */
export interface ToldFact extends ToldLine {
  /** null: it was corrected, ended or forgotten since, or does not fit what is asked now. */
  readonly fact: KnownFact | null;
}

/** What is not asked for any more is noise in the end, however much its place in the cache is worth. */
export const STALE_TURNS_MAX = 10;
/** Lines in the order in which they were told, each with whether it is asked for now; null: it cannot be told again. */
export type Retold = { readonly item: FactItem; readonly turns: number; readonly asked: boolean } | null;

/**
 * Those lines that are not asked for any more and stay: from the first one on, as long as there is room for them. Where a line goes,
 * what comes after it has to be read anew: so all that are not asked for leave from there on.
 */
export function staying(told: readonly Retold[], room: number): readonly FactItem[] {
  const stay: FactItem[] = [];
  let left = room;
  for (const line of told) {
    if (line?.asked === true) continue;
    left -= line?.item.tokens ?? 0;
    if (line === null || line.turns >= STALE_TURNS_MAX || left < 0) break;
    stay.push(line.item);
  }
  return stay;
}

/** What is not asked for any more leaves this part of a budget to what is asked. */
export const STALE_PART_MAX = 1 / 2;

/** Facts in their final order, the profile first: those told before, as they stood, and then the new ones, the latest last. */
export function inOrderOfTelling(facts: readonly FactItem[], told: readonly Retold[]): readonly FactItem[] {
  const shown = new Set(facts);
  const before = told.flatMap((line) => (line !== null && shown.has(line.item) ? [line.item] : []));
  const known = new Set(before);
  const fresh = facts.filter((item) => !known.has(item));
  // What is new in the profile would move all memories: it comes after those that were told.
  const late = before.some(({ section }) => section === 'memories');
  const isProfile = ({ section }: FactItem): boolean => section === 'profile';
  const added = fresh.filter(isProfile);
  return [
    ...before.filter(isProfile),
    ...(late ? [] : added),
    ...before.filter((item) => !isProfile(item)),
    ...(late ? added.map((item) => ({ ...item, section: 'memories' as const })) : []),
    ...fresh.filter((item) => !isProfile(item)).toSorted(byDate),
  ];
}

const byDate = ({ fact: a }: FactItem, { fact: b }: FactItem): number =>
  a.validFrom - b.validFrom || a.saidAt - b.saidAt || (a.memoryId < b.memoryId ? -1 : 1);

/** What was told by a block, for the next one. */
export function toldBy(shown: readonly FactItem[], told: readonly Retold[]): readonly ToldLine[] {
  const stale = new Map(told.flatMap((line) => (line === null || line.asked ? [] : [[line.item, line.turns + 1]])));
  return shown.map((item) => ({
    memoryId: item.fact.memoryId,
    version: item.fact.version,
    section: item.section,
    turns: stale.get(item) ?? 0,
  }));
}

/*
 * What others said stands in a prompt as data: it cannot close the block it is in, speak in another role, or pass for a
 * citation. Words stay as they are; only signs that prompts are built with change. No escaping makes a model deaf to
 * what a text says: the block says to it that none of this is an instruction.
 */

/** A text of others on one line. */
export function onOneLine(text: string): string {
  return harmless(text).replace(/\s+/gu, ' ').trim();
}

/** A text of others with its lines, the second and all later ones quoted: none begins as the block's own lines do. */
export function quoted(text: string): string {
  const lines = harmless(text)
    .split(LINES)
    .map((line) => line.trimEnd());
  return lines.filter((line) => line !== '').join('\n  > ');
}

function harmless(text: string): string {
  return cleanText(text)
    .replace(UNSEEN, '$1')
    .replace(TAGS, '&lt;')
    .replace(FENCES, "'''")
    .replace(TEMPLATE_SIGNS, '($1)')
    .replace(CITATIONS, '(m$1)')
    .replace(ROLE_MARKS, '$1$2 – ');
}

/** Line and paragraph separators are line breaks to whoever shows them. */
const LINES = /[\n\u2028\u2029]+/u;

/** Signs that turn the direction of writing, and letters nobody sees but models; the latter spell flags after a black one. */
const UNSEEN =
  /(\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F})|[\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/gu;

/** What may begin a tag, a special token of a chat template (<|im_start|>, <<SYS>>) or a comment; "a < b" stays. */
const TAGS = /[<＜](?=[\p{L}/!?|<])/gu;

const FENCES = /`{3,}|~{3,}/gu;

/** [INST], [/INST] and their kin. */
const TEMPLATE_SIGNS =
  /\[(\/?(?:INST|SYS|SYSTEM|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT))\]/giu;

const CITATIONS = /\[\s{0,3}m(\d{1,6})\s{0,3}\]/giu;

/** A line that begins as a turn of somebody does. Repeats are bounded: time must not grow with the square of a text. */
const ROLE_MARKS =
  /(^|[\n\u2028\u2029])([#>*_ \t]{0,8}(?:system|developer|assistant|human|user|tool|instructions?|系统|助手|用户))[*_ \t]{0,4}[::][ \t]?/giu;
