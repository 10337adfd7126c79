import { isSelfName } from '../graph/names.ts';
import type { Statement } from '../graph/words.ts';
import type { Leaning, WishToForget } from '../ports/ledger/memories.ts';
import { normaliseText } from '../text/normalise.ts';
import { containment, termSet } from '../text/terms.ts';
import { type Content, isWithheld } from '../words.ts';

/**
 * What is found no more with a memory that is forgotten: the words of the messages that it came from, and the statements of the
 * graph that lean on it. Pure: of a message or a statement, and of all that came of the same messages.
 */

/** A memory that came of some messages, as one event says it. */
export interface Evidence {
  readonly memoryId: string;
  readonly messageIds: readonly string[];
  readonly text: string | null;
  readonly quote: string | null;
  readonly forgotten: boolean;
}

/** Stands for words that are hidden. */
const HIDDEN = '[forgotten]';

const NOTHING_SHOWN: Content = { withheld: 'forgotten' };

/**
 * What is shown of a message; null: all of it. The words that say what is forgotten are hidden; all of it is where no other memory
 * leans on it, or the words are not found in it. `wishes`: the words of it by which something was to be forgotten.
 */
export function shownOf(
  content: Content,
  { evidence, wishes }: { readonly evidence: readonly Evidence[]; readonly wishes: readonly (string | null)[] },
): Content | null {
  const forgotten = evidence.filter((one) => one.forgotten);
  if (forgotten.length + wishes.length === 0 || isWithheld(content)) return null;
  if (evidence.length === forgotten.length) return NOTHING_SHOWN;
  const passages = [
    ...forgotten.map(({ quote, text }) => ({ quote, text: text ?? '' })),
    ...wishes.map((quote) => ({ quote, text: quote ?? '' })),
  ];
  const texts = textsOf(content);
  const spans = passages.map((passage) => texts.map((text) => spansOf(text, passage)));
  if (spans.some((found) => found.flat().length === 0)) return NOTHING_SHOWN;
  const shown = texts.map((text, i) =>
    withoutSpans(
      text,
      spans.flatMap((found) => found[i] ?? []),
    ),
  );
  if (typeof content === 'string') return shown[0] ?? '';
  return content.map((part, i) => (part.type === 'text' ? { ...part, text: shown[i] ?? '' } : part));
}

/** What a message shows and, where that is not all, what was said. */
export interface Kept {
  readonly content: Content;
  readonly unhidden: Content | null;
}

/**
 * What is kept of a message without what it said of some memories, which are not to come back; null: nothing goes. What is hidden
 * for others stays behind what is shown, so that those still can.
 */
export function cutOf(
  { content, unhidden }: Kept,
  {
    evidence,
    wishes,
    isErased,
  }: {
    readonly evidence: readonly Evidence[];
    /** Those that hide their words. */
    readonly wishes: readonly Pick<WishToForget, 'quote' | 'memoryId'>[];
    /** null: what a wish is about that found nothing. */
    readonly isErased: (memoryId: string | null) => boolean;
  },
): Kept | null {
  if (unhidden === null) return null;
  const goes = ({ memoryId }: { readonly memoryId: string | null }): boolean => isErased(memoryId);
  const gone = wishes.filter(goes).map(({ quote }) => quote);
  const left = { evidence: evidence.filter((one) => !goes(one)), wishes: withoutWords(wishes, gone) };
  if (left.evidence.length + left.wishes.length === evidence.length + wishes.length) return null;
  if (left.wishes.length === 0 && !left.evidence.some(({ forgotten }) => forgotten)) return { content, unhidden: null };
  const said = shownOf(unhidden, {
    evidence: evidence.map((one) => ({ ...one, forgotten: one.forgotten && goes(one) })),
    wishes: gone,
  });
  if (said === null) return null;
  const shown = shownOf(said, { ...left, wishes: left.wishes.map(({ quote }) => quote) });
  return shown === null ? { content: said, unhidden: null } : { content: shown, unhidden: said };
}

/** Wishes of a message but for those that say these words: one sentence can ask for several memories. */
export const withoutWords = <Wish extends Pick<WishToForget, 'quote'>>(
  wishes: readonly Wish[],
  gone: readonly (string | null)[],
): readonly Wish[] => wishes.filter(({ quote }) => !gone.includes(quote));

/** Words of a message, and what was made of them. */
interface Passage {
  readonly quote: string | null;
  readonly text: string;
}

type Span = readonly [start: number, end: number];

/** In characters: who quotes more says the whole message. */
const QUOTE_MAX = 1_000;
/** Where words stand more often than this, or in a longer sentence, all of the text goes. */
const PLACES_MAX = 50;
const SENTENCE_MAX = 2_000;

/** Where the words stand, however they are spaced and capitalised. Takes linear time on any text. */
function spansOf(text: string, { quote, text: made }: Passage): readonly Span[] {
  const spans: Span[] = [];
  for (const place of placesIn(text, quote)) {
    const span = spans.length < PLACES_MAX ? reach(text, place, made) : null;
    if (span === null) return [[0, text.length]];
    spans.push(span);
  }
  return spans;
}

function* placesIn(text: string, quote: string | null): Generator<Span> {
  if (quote === null || quote.trim() === '' || quote.length > QUOTE_MAX) return;
  const words = quote.trim().split(/\s+/u).map(plain).join('\\s+');
  for (const { index, 0: found } of text.matchAll(new RegExp(words, 'giu'))) yield [index, index + found.length];
}

/** Words that were quoted of a text, as they stand in it: nothing that it does not show. */
export const quotedIn = (text: string, quotes: readonly (string | null)[]): readonly string[] => [
  ...new Set(
    quotes.flatMap((quote) => {
      const [first] = placesIn(text, quote);
      return first === undefined ? [] : text.slice(...first);
    }),
  ),
];

const plain = (word: string): string => word.replace(/[\\^$.*+?()[\]{}|/]/gu, '\\$&');

/** The rest of the sentence goes with the words where it says more of what was made of them; null: no sentence is that long. */
function reach(text: string, [start, end]: Span, made: string): Span | null {
  const sentence = sentenceAround(text, [start, end]);
  if (sentence === null) return null;
  const [from, to] = sentence;
  const [said, words] = [termSet(made), termSet(text.slice(start, end))];
  const rest = [...termSet(`${text.slice(from, start)} ${text.slice(end, to)}`)];
  return rest.some((term) => said.has(term) && !words.has(term)) ? [from, to] : [start, end];
}

function sentenceAround(text: string, [start, end]: Span): Span | null {
  let [from, to] = [start, end];
  while (from > 0 && !isEnd(text, from - 1) && to - from <= SENTENCE_MAX) from -= 1;
  while (to < text.length && !isEnd(text, to) && to - from <= SENTENCE_MAX) to += 1;
  if (to - from > SENTENCE_MAX) return null;
  return [from, to < text.length && text[to] !== '\n' ? to + 1 : to];
}

const ENDS: ReadonlySet<string> = new Set('.!?。！？\n');
const isEnd = (text: string, at: number): boolean => ENDS.has(text.charAt(at));

function withoutSpans(text: string, spans: readonly Span[]): string {
  let [shown, at] = ['', 0];
  for (const [start, end] of spans.toSorted((a, b) => a[0] - b[0])) {
    if (start >= at) shown += `${text.slice(at, start)}${HIDDEN}`;
    at = Math.max(at, end);
  }
  return shown + text.slice(at);
}

/** What an entity is called. */
type NameOf = (entity: string) => string;

/** Of all that came of some messages, what came of these. */
export function evidenceByMessage(
  evidence: readonly Evidence[],
): (messageIds: readonly string[]) => readonly Evidence[] {
  const byMessage = new Map<string, Evidence[]>();
  for (const one of evidence) {
    for (const id of new Set(one.messageIds)) {
      const known = byMessage.get(id);
      if (known === undefined) byMessage.set(id, [one]);
      else known.push(one);
    }
  }
  return (ids) => [...new Set(ids.flatMap((id) => byMessage.get(id) ?? []))];
}

/**
 * Whether a statement falls: all that it leans on is forgotten, or it names somebody whom only what is forgotten names. Of what
 * came of its messages (`own`) it leans on that which says most of it; where nothing came of them it leans on nothing, and stays.
 */
export function hasFallen(statement: Statement, own: readonly Evidence[], nameOf: NameOf): boolean {
  if (!own.some(({ forgotten }) => forgotten)) return false;
  if (leanedOn(statement, own, nameOf).every(({ forgotten }) => forgotten)) return true;
  const [gone, left] = [own.filter(({ forgotten }) => forgotten), own.filter(({ forgotten }) => !forgotten)];
  const isTold = (name: string, by: readonly Evidence[]): boolean =>
    by.some(({ text, quote }) => containment(name, `${text ?? ''} ${quote ?? ''}`) === 1);
  return namedIn(statement, nameOf).some((name) => isTold(name, gone) && !isTold(name, left));
}

function leanedOn(statement: Statement, own: readonly Evidence[], nameOf: NameOf): readonly Evidence[] {
  const words = wordsOf(statement, nameOf);
  const said = own.map((one) => containment(words, one.text ?? one.quote ?? ''));
  const most = Math.max(...said);
  return own.filter((_, i) => said[i] === most);
}

function wordsOf(statement: Statement, nameOf: NameOf): string {
  const relationship = 'relationship' in statement ? statement.relationship.replaceAll('_', ' ') : '';
  return [...namedIn(statement, nameOf), relationship].join(' ');
}

/** Everybody it names but the owner. */
function namedIn(statement: Statement, nameOf: NameOf): readonly string[] {
  if (statement.kind === 'named') return [statement.name];
  const ends = 'destination' in statement ? [statement.source, statement.destination] : [statement.source];
  return ends.map(nameOf).filter((name) => !isSelfName(name) && normaliseText(name) !== '');
}

/** A message as it is shown beside what quotes it. */
export interface ShownMessage {
  readonly content: Content;
  /** Something of what was said is hidden. */
  readonly hidden: boolean;
}

/** What a message hides, as far as it is kept, and all that was to be forgotten of it. */
interface Hiding {
  readonly content: Content;
  readonly unhidden: Content | null;
  /** Something was to be forgotten by its words. */
  readonly wished: boolean;
  readonly evidence: readonly Evidence[];
}

/** A message that is not kept shows nothing. Whatever of it is forgotten is hidden, although nobody can say any more where it stood. */
export function besideQuote({ content, unhidden, wished, evidence }: Hiding): ShownMessage {
  const isForgotten = wished || evidence.some(({ forgotten }) => forgotten);
  return { content, hidden: unhidden !== null || (isWithheld(content) && isForgotten) };
}

/** A quote that is hidden beside a message that is not kept is gone for good: nothing could tell any more that it may be shown. */
export const isQuoteKept = (messages: readonly ShownMessage[]): boolean =>
  !messages.some(({ content }) => isWithheld(content) && content.withheld === 'retention');

/**
 * A statement's quote beside its messages: where something of them is hidden, it is shown only if one of them still shows all of its
 * words. What is left of it otherwise could say the rest.
 */
export function quoteShown(quote: string | null, messages: readonly ShownMessage[]): string | null {
  if (quote === null || !messages.some(({ hidden }) => hidden)) return quote;
  const words = squeezed(quote);
  return messages.some(({ content }) => textsOf(content).some((text) => squeezed(text).includes(words))) ? quote : null;
}

const squeezed = (text: string): string => text.replace(/\s+/gu, ' ').trim().toLowerCase();

function textsOf(content: Content): readonly string[] {
  if (isWithheld(content)) return [];
  return typeof content === 'string' ? [content] : content.map((part) => (part.type === 'text' ? part.text : ''));
}

/** A lane's things that came of the messages of one memory. */
interface Around {
  readonly messages: readonly { readonly id: string; readonly content: Content }[];
  readonly evidence: readonly Evidence[];
  /** `hides`: their words are hidden already. */
  readonly wishes: readonly (WishToForget & { readonly hides: boolean })[];
  readonly statements: readonly Statement[];
  readonly nameOf: NameOf;
}

/** What would be hidden and fall if a memory were forgotten. */
export function leaningIn(memoryId: string, { messages, evidence, wishes, statements, nameOf }: Around): Leaning {
  const then = evidenceByMessage(
    evidence.map((one) => (one.memoryId === memoryId ? { ...one, forgotten: true } : one)),
  );
  return {
    messages: messages.flatMap(({ id, content }) => {
      const own = then([id]);
      const hiding = wishes.filter((wish) => wish.messageId === id && (wish.hides || wish.memoryId === memoryId));
      const quotes = hiding.map(({ quote }) => quote);
      const shown = shownOf(content, { evidence: own, wishes: quotes });
      if (shown === null) return [];
      const others = own.filter(({ forgotten }) => !forgotten).map((one) => one.memoryId);
      return [
        { id, hidden: isWithheld(shown) ? ('all' as const) : ('words' as const), otherMemoryIds: [...new Set(others)] },
      ];
    }),
    statements: statements.filter((statement) => hasFallen(statement, then(statement.messageIds), nameOf)),
  };
}
