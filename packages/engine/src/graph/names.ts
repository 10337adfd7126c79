import type { GraphStore } from '../ports/ledger/graph.ts';
import { cleanText, normaliseText } from '../text/normalise.ts';
import { remembering } from '../text/terms.ts';
import { areAliases, areCalledAlike } from '../text/wording.ts';
import type { LaneId, TenantId } from '../words.ts';
import type { Entity, EntityKind } from './words.ts';

/** Longer ones are sentences, not names. In characters. */
const NAME_MAX = 100;

/** The name the owner's own entity has before it is called anything else. */
export const SELF_NAME = 'User';

/** A name as it is kept: one line, without quotes and stops around it, or "my" before it; null where nothing is left of it. */
export function nameOf(text: string): string | null {
  const line = cleanText(text).replace(/\s+/gu, ' ').trim();
  const bare = line
    .replace(AROUND, '')
    .replace(/^(?:my|our)\s+(?=\S)/iu, '')
    .replace(/^我们?的(?=.)/u, '');
  return bare === '' || bare.length > NAME_MAX || !/[\p{L}\p{N}]/u.test(bare) || NO_NAME.test(bare) ? null : bare;
}

const AROUND = /^["'“”‘’«»「」『』([{<.,;:!?、。，！？\s]+|["'“”‘’«»「」『』)\]}>,;:!?、。，！？\s]+$/gu;
/** Words that stand for a name. */
const NO_NAME =
  /^(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|that|these|those|there|here|who|what|someone|somebody|something|everyone|everybody|nobody|unknown|none|null|n\/a|他|她|它|他们|她们|它们|这|那|这里|那里|这个|那个|谁|什么|有人|大家)$/iu;

/** Whether it is how somebody speaks of themselves, or how a model calls them. */
export const isSelfName = (name: string): boolean => SELF.test(normaliseText(name));
const SELF =
  /^(?:i|me|my|mine|myself|self|(?:the )?user|(?:the )?speaker|(?:the )?human|user's?|we|us|我|我们|自己|本人|俺|咱|咱们|用户|使用者)$/u;

/** The form in which names are looked up: two with the same are spelt alike. */
export const nameKey = (name: string): string => keys(name, () => normaliseText(name));

/**
 * What is left of a name without what people leave out or put in as they like: accents, titles, articles, legal forms,
 * stops between initials. Two names of the same kind with the same rest are one.
 */
export const aliasKey = (name: string, kind: EntityKind): string =>
  aliasKeys(`${kind} ${name}`, () => undressed(name, kind));

/** Each name of an owner is compared with each that is mentioned; longer ones than these are whole texts. */
const KEPT = { max: 20_000, length: 200 } as const;
const keys = remembering<string>(KEPT);
const aliasKeys = remembering<string>(KEPT);

function undressed(name: string, kind: EntityKind): string {
  const plain = normaliseText(name)
    .normalize('NFKD')
    .replace(/(?<=\p{Script=Latin}\p{M}*)\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/[øœæßłđ]/gu, (letter) => PLAIN[letter] ?? letter)
    .replace(/['’`]s(?=\s|$)/gu, '')
    .replace(/['’`]/gu, '')
    .replace(/(?<=\b\p{L})\.(?=\s?\p{L}\b)/gu, '')
    .replace(/[&＆]/gu, ' and ')
    .replace(/[\p{P}\p{S}]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return withoutDress(plain, kind) || plain || normaliseText(name);
}

const PLAIN: Readonly<Record<string, string>> = { ø: 'o', œ: 'oe', æ: 'ae', ß: 'ss', ł: 'l', đ: 'd' };

function withoutDress(plain: string, kind: EntityKind): string {
  const bare = plain.replace(/^(?:the|a|an) (?=\S)/u, '');
  if (kind === 'person')
    return bare
      .replace(TITLES, '')
      .replace(/ (?:jr|sr|phd|md|ii|iii)$/u, '')
      .replace(HAN_TITLES, '$1');
  if (kind === 'organisation') return bare.replace(LEGAL, '').replace(HAN_LEGAL, '$1');
  return kind === 'place'
    ? bare
        .replace(/^(?:city|town) of (?=\S)/u, '')
        .replace(/ city$/u, '')
        .replace(HAN_PLACES, '$1')
    : bare;
}

const TITLES =
  /^(?:(?:dr|mr|mrs|ms|miss|mx|prof|professor|doctor|sir|dame|aunt|auntie|uncle|herr|frau|monsieur|madame|senor|senora|don|dona) )+(?=\S)/u;
const LEGAL =
  /(?: (?:inc|incorporated|corp|corporation|co|company|ltd|limited|llc|llp|plc|gmbh|ag|kg|sa|sas|sarl|bv|nv|ab|as|asa|oy|spa|srl|pty|group|holding|holdings))+$/u;
const HAN_TITLES = /^(\p{Script=Han}{1,3})(?:先生|女士|小姐|老师|医生|教授|同学)$/u;
const HAN_LEGAL = /^(\p{Script=Han}{2,}?)(?:(?:股份|集团|责任)*(?:有限)?公司|集团)$/u;
const HAN_PLACES = /^(\p{Script=Han}{2,})(?:市|省|县)$/u;

/** Whether a name stands in a text, as words of their own where its script parts words. Both normalised. */
export function isNamedIn(key: string, text: string): boolean {
  for (let at = text.indexOf(key); at !== -1 && key !== ''; at = text.indexOf(key, at + 1)) {
    const end = at + key.length;
    // Two units of each side: a letter may take as many.
    if (
      isApart(text.slice(Math.max(0, at - 2), at), key.slice(0, 2)) &&
      isApart(key.slice(-2), text.slice(end, end + 2))
    ) {
      return true;
    }
  }
  return false;
}

/** The same, for a name as a dictionary has it: its words may stand in the text with other endings. */
export const isInflectedIn = (key: string, text: string): boolean =>
  key.split(' ').every((word) => new RegExp(`(?<![\\p{L}\\p{N}])${escaped(stemOf(word))}`, 'u').test(text));

const stemOf = (word: string): string => word.slice(0, Math.max(STEM_MIN, word.length - ENDING_MAX));
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/gu, '\\$&');
/** Letters that an ending has at most, and that a word keeps at least. */
const ENDING_MAX = 2;
const STEM_MIN = 3;

const isApart = (left: string, right: string): boolean => !(SPACED_END.test(left) && SPACED_START.test(right));
/** Letters of scripts that put spaces between words. */
const SPACED_END = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]$/u;
const SPACED_START = /^(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]/u;

/** An entity by what is known of it. */
export type KnownEntity =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'self' };

type Reading = Pick<GraphStore, 'entities' | 'named' | 'self'>;

/** The entities of a lane that are meant, each as the one it stands for. None: there is none. */
export async function entitiesMeant(
  graph: Reading,
  { tenant, lane }: { readonly tenant: TenantId; readonly lane: LaneId },
  known: KnownEntity,
): Promise<readonly Entity[]> {
  if (known.kind === 'name') return graph.named(lane, [normaliseText(known.name)]);
  const found = known.kind === 'self' ? await graph.self(lane) : await entityOf(graph, tenant, known.id);
  if (found === null || found.lane !== lane) return [];
  const standing = found.mergedInto === null ? found : await entityOf(graph, tenant, found.mergedInto);
  return standing === null ? [] : [standing];
}

const entityOf = async (graph: Reading, tenant: TenantId, id: string): Promise<Entity | null> =>
  (await graph.entities(tenant, [id]))[0] ?? null;

/** From here on two are taken for one. */
export const MERGE_FROM = 0.9;
/** From here on somebody is asked whether they are. */
export const PROPOSE_FROM = 0.7;

/** Worth a question, and no more: also of vectors this near, where the words of two names differ and their numbers do not. */
const ASK = 0.8;
/** Of letters that differ: of a word of so many, one more may be a slip. */
const LETTERS_PER_SLIP = 5;
const SLIPS_MAX = 2;

/**
 * How much two names of one kind look like names of the same, 0…1: what their spelling says. 1: the same but for how it
 * is dressed. Otherwise a part of the other, its initials or a slip, which is never enough to merge them by itself.
 */
export function spelledAlike(a: string, b: string, kind: EntityKind): number {
  const [left, right] = [aliasKey(a, kind), aliasKey(b, kind)];
  if (left === right) return 1;
  const [some, more] = [left.split(' '), right.split(' ')].sort((x, y) => x.length - y.length) as [string[], string[]];
  if (isPart(some, more, kind) || isInitials(some, more) || isSlip(left, right)) return ASK;
  return (NOT_ASKED * some.filter((word) => more.includes(word)).length) / more.length;
}

/** Words that two names share make them more alike, and never enough to ask. */
const NOT_ASKED = PROPOSE_FROM - 0.01;

/**
 * How likely two names of one kind are of the same, 0…1, given how near their vectors are. Vectors alone merge only what
 * no word contradicts: other scripts, another order.
 */
export function likenessOf(a: string, b: string, { kind, cosine }: { kind: EntityKind; cosine: number }): number {
  const spelled = spelledAlike(a, b, kind);
  if (spelled >= PROPOSE_FROM) return spelled;
  const known = isCalledAlike(wordsOf(a, kind), wordsOf(b, kind), kind) ? ASK : 0;
  if (!areApart(a, b, kind)) return Math.max(spelled, known, cosine);
  if (known > 0) return known;
  const sameNumbers = numbersOf(wordsOf(a, kind)) === numbersOf(wordsOf(b, kind));
  return sameNumbers && cosine >= ASK ? ASK : Math.min(spelled, cosine);
}

/** By what nearly everybody knows: "vw" and "volkswagen", "bob smith" and "robert smith". */
function isCalledAlike(some: readonly string[], more: readonly string[], kind: EntityKind): boolean {
  if (areAliases(some.join(' '), more.join(' '))) return true;
  const [first = '', ...family] = some;
  const [other = '', ...others] = more;
  return kind === 'person' && areCalledAlike(first, other) && family.join(' ') === others.join(' ');
}

const wordsOf = (name: string, kind: EntityKind): string[] => aliasKey(name, kind).split(' ');

/**
 * Whether one name says something that the other one contradicts, however near their vectors are: "Team 1" and "Team 2",
 * "Ana Berg" and "Ana Holm". Names in different scripts share no words, and contradict nothing.
 */
function areApart(a: string, b: string, kind: EntityKind): boolean {
  const [left, right] = [new Set(wordsOf(a, kind)), new Set(wordsOf(b, kind))];
  const own = [...left].filter((word) => !right.has(word));
  const other = [...right].filter((word) => !left.has(word));
  if (numbersOf(own) !== numbersOf(other)) return true;
  if (scriptOf(a) !== scriptOf(b)) return false;
  return own.length > 0 && other.length > 0;
}

const numbersOf = (words: readonly string[]): string => words.filter((word) => /\d/u.test(word)).join(' ');

const SCRIPTS: readonly RegExp[] = [
  'Latin',
  'Han',
  'Cyrillic',
  'Greek',
  'Arabic',
  'Hebrew',
  'Hangul',
  'Hiragana',
  'Katakana',
  'Thai',
  'Devanagari',
].map((script) => new RegExp(`\\p{Script=${script}}`, 'u'));

/** Its place among those that are distinguished; -1: none of them. */
const scriptOf = (name: string): number => SCRIPTS.findIndex((script) => script.test(name));

/** "Ana" of "Ana Silva", "Acme" of "Acme Robotics": its first or, of a person, its last words. */
function isPart(some: readonly string[], more: readonly string[], kind: EntityKind): boolean {
  if (some.length === more.length) return false;
  const [part, whole] = [some.join(' '), more.join(' ')];
  return whole.startsWith(`${part} `) || (kind === 'person' && whole.endsWith(` ${part}`));
}

/** "ibm" of "international business machines", "a silva" of "ana silva". */
function isInitials(some: readonly string[], more: readonly string[]): boolean {
  const [only = ''] = some;
  if (some.length === 1 && more.length > 1 && only.length > 1)
    return only === more.map((word) => word.charAt(0)).join('');
  if (some.length !== more.length) return false;
  return some.every(
    (word, i) => word === more[i] || isInitialOf(word, more[i] ?? '') || isInitialOf(more[i] ?? '', word),
  );
}

const isInitialOf = (letter: string, word: string): boolean => letter.length === 1 && word.startsWith(letter);

/** Short names differ by a letter because they are different ones. */
function isSlip(a: string, b: string): boolean {
  const length = Math.min(a.length, b.length);
  if (/\d/u.test(a + b) || a.charAt(0) !== b.charAt(0)) return false;
  const allowed = Math.min(SLIPS_MAX, Math.floor(length / LETTERS_PER_SLIP));
  return allowed > 0 && distance(a, b, allowed) <= allowed;
}

/** How many letters are changed, missing, added or swapped with the next; more than `most` counts as most + 1. */
function distance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [before, row]: [number[], number[]] = [[], Array.from({ length: b.length + 1 }, (_, i) => i)];
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = (row[j - 1] ?? 0) + Number(a[i - 1] !== b[j - 1]);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (before[j - 2] ?? 0) + 1 : change;
      next.push(Math.min(change, swap, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    [before, row] = [row, next];
  }
  return Math.min(row[b.length] ?? 0, most + 1);
}
