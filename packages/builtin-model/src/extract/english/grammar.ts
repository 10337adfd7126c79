import type { Dated, Found } from '../sentences.ts';
import { third } from './verbs.ts';
import { BARE_ADJECTIVE, isOccupation, NOT_NAMES, PAIRS, REQUEST } from './words.ts';

/** The values of a match by the names of its slots. */
export type Values = Readonly<Record<string, string>>;

/** One line of a table: what a whole clause looks like, and what it says of the user. */
export interface Rule {
  readonly pattern: RegExp;
  readonly says: (values: Values) => string | readonly string[] | null;
  readonly category: string;
  /** A state leaves the date out of its text, an event keeps it; where the date is the fact itself, it is read raw. */
  readonly reads: 'state' | 'event' | 'raw';
  /** Whether it says something only with a date, or only without; either way, unless told. */
  readonly dated: boolean | null;
}

/** What may stand in a slot, and what becomes of it; null leaves the clause unread. */
const SLOTS: Readonly<
  Record<string, { readonly is: string; readonly as: (text: string) => string | readonly string[] | null }>
> = {
  name: { is: "\\p{Lu}[\\p{L}.'-]*(?: \\p{Lu}[\\p{L}.'-]*){0,3}", as: (text) => (NOT_NAMES.test(text) ? null : text) },
  age: {
    is: '\\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-\\w+)?|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\\w+teen',
    as: (text) => text,
  },
  place: { is: '.+?', as: placed },
  job: { is: '.+', as: (text) => (isOccupation(text) ? tidy(text) : null) },
  what: { is: '.+', as: tidy },
  each: { is: '.+', as: (text) => listed(text) },
  acts: { is: '[a-z]+', as: third },
  plan: { is: '[a-z].+', as: (text) => (REQUEST.test(text) || NO_PLAN.test(text) ? null : tidy(text)) },
};

/** What is no plan after "am going to": a place, a figure of speech, despair. */
const NO_PLAN =
  /^(?:you|to|be|the|an?|my|bed|church|school|work|sleep|kill|die|cry|scream|explode|puke|miss|regret|lose|punch|murder)\b(?!.* (?:trip|wedding|party|holiday|vacation|visit|move|race|renovation|journey|honeymoon)\b)/u;

/** The rules of a table with the usual category and way of reading of its lines. */
export function table(
  lines: string,
  usual: Pick<Rule, 'category' | 'reads'>,
  functions: Readonly<Record<string, Rule['says']>>,
): readonly Rule[] {
  return lines
    .trim()
    .split('\n')
    .map((line) => {
      const [pattern = '', text = '', options = ''] = line.split(/ [→#] /u);
      const has = options.split(' ');
      const whole = pattern.replaceAll(/(?<!\?)<(\w+)>/gu, (_all, slot: string) => `(?<${slot}>${SLOTS[slot]?.is})`);
      return {
        pattern: new RegExp(`^(?:${whole})$`, 'u'),
        says: functions[text.slice(1)] ?? ((values: Values) => filled(text.split('; '), values)),
        category: has.find((option) => /^(?!state$|event$|raw$|dated$|undated$)./u.test(option)) ?? usual.category,
        reads: (['state', 'event', 'raw'] as const).find((reads) => has.includes(reads)) ?? usual.reads,
        dated: has.includes('dated') ? true : has.includes('undated') ? false : null,
      };
    });
}

/** Each text with its slots filled: once for every item of a list; null when a value is none. */
function filled(texts: readonly string[], values: Values): readonly string[] | null {
  let all: readonly string[] = texts;
  for (const [name, said] of Object.entries(values)) {
    const value = SLOTS[name] === undefined ? said : SLOTS[name].as(said);
    if (value === null || value.length === 0) return null;
    const items = typeof value === 'string' ? [value] : value;
    all = all.flatMap((text) =>
      text.includes(`<${name}>`) ? items.map((item) => text.replace(`<${name}>`, item)) : [text],
    );
  }
  return all.map((text) => text.replaceAll(/<\w+>/gu, '').replaceAll(/ {2,}/gu, ' ').trim());
}

/** What the first line that has something to say about a predicate says. */
export function firstSaid(list: readonly Rule[], predicate: Dated): readonly Found[] {
  for (const { pattern, category, reads, says, dated } of list) {
    const match = dated === (predicate.validFrom === null) ? null : pattern.exec(textFor(reads, predicate));
    const texts = match === null ? null : says(Object.fromEntries(present(match.groups ?? {})));
    const all = typeof texts === 'string' ? [texts] : (texts ?? []);
    const validFrom = reads === 'raw' ? null : predicate.validFrom;
    if (all.length > 0) return all.map((text) => ({ text: ofUser(text), category, validFrom }));
  }
  return [];
}

const textFor = (reads: Rule['reads'], { raw, without, labelled }: Dated): string =>
  withoutTrailing({ raw, state: without, event: labelled }[reads]);

const ofUser = (text: string): string => `User${text.startsWith("'s") ? '' : ' '}${text}`;

const present = (groups: Readonly<Record<string, string | undefined>>): readonly [string, string][] =>
  Object.entries(groups).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bi'?m\b/giu, 'I am'],
  [/\bi'?ve\b/giu, 'I have'],
  [/\bi'll\b/giu, 'I will'],
  [/\bi'd\b/giu, 'I would'],
  [/\b(we|they|you)'re\b/giu, '$1 are'],
  [/\b(we)'ve\b/giu, '$1 have'],
  [/\b(we)'ll\b/giu, '$1 will'],
  [/\bwon'?t\b/giu, 'will not'],
  [/\b(?:can'?t|cannot)\b/giu, 'can not'],
  [/\b(do|does|did|is|are|was|were|have|has|would|could)n'?t\b/giu, '$1 not'],
  [/\b(name|that|it|he|she|there|what|where|who)'s\b/giu, '$1 is'],
  [/\blet'?s\b/giu, 'let us'],
  [/\bgonna\b/giu, 'going to'],
  [/\bwanna\b/giu, 'want to'],
  [/\bgotta\b/giu, 'have to'],
  [/\bi\b(?!\.)/gu, 'I'],
  [/\s+/gu, ' '],
];

/** A sentence with its contractions written out. */
export function writtenOut(sentence: string): string {
  return CONTRACTIONS.reduce((text, [from, to]) => text.replace(from, to), sentence.replace(/[’‘]/gu, "'")).trim();
}

const PERSONS: readonly (readonly [RegExp, string])[] = [
  [/\bI am\b/gu, 'they are'],
  [/\bI was\b/gu, 'they were'],
  [/\bI\b/gu, 'they'],
  [/\b(?:my|our)\b/giu, 'their'],
  [/\b(?:mine|ours)\b/giu, 'theirs'],
  [/\bmyself\b/giu, 'themselves'],
  [/\b(?:me|us)\b/gu, 'them'],
];

/** What the user says of themselves, as others say it of them. */
export const reported = (text: string): string => PERSONS.reduce((said, [from, to]) => said.replace(from, to), text);

const TRAILING =
  /[\s,]+(?:now|too|as well|again|actually|currently|right now|at the moment|these days|nowadays|anymore|any more|any longer|a lot|so much|very much|really|please|thanks|thank you|by the way|btw|by now|you know|fluently|already|at all|to be honest|honestly|and so on|and stuff|etc|then|instead|permanently|for good|recently|lately|together|after all|for work)$/iu;
const POINTING =
  /^(?:especially|particularly|mainly|mostly|it|its|that|this|these|those|them|him|her|he|she|they|so|what|how|why|when|if|something|anything|nothing|things?|stuff|you|your|yours|one|too|here|there|another|neither|both|all|none|more|less|myself|every(?:thing|one|body)|my life|the (?:first|second|third|last|other|same) .*|no one|nobody|to (?:it|that|this|you)|the (?:idea|thought|sound|look|way|fact) ?.*)(?:\s|$)/iu;
/** An object with a verb of its own is a story, not a fact. */
const STORY = /\b(?:was|were|is|are|am|did|does|had|has|will|would|could|should|who|which|that|than I|you|your|not)\b/u;

function withoutTrailing(said: string): string {
  let text = said;
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(TRAILING, '').replace(/[\s,.]+$/u, '');
  }
  return text;
}

/** An object of a statement without fillers; null when it only points at something said elsewhere, or tells a story. */
export function tidy(value: string): string | null {
  const text = withoutTrailing(value.replace(/^[\s,:]+|[\s,.:!?]+$/gu, ''));
  const unread = text === '' || text.length > VALUE_CHARS_MAX || POINTING.test(text) || STORY.test(text);
  return unread ? null : reported(text);
}
/** Longer objects are stories, not facts. */
const VALUE_CHARS_MAX = 120;

/** A place: what follows its name with a small letter is a remark. */
export function placed(value: string): string | null {
  const cut = value.replace(/\s(?:with|near|for|since|as|on my own|alone|and then|to (?!the))\b.*$/iu, '');
  const [head = '', ...rest] = cut.split(/\s*,\s*/u);
  const kept = rest.filter(
    (part) => /^(?:the )?\p{Lu}/u.test(part) || (/^\p{Ll}/u.test(head) && /^\p{L}+$/u.test(part)),
  );
  const named = tidy([head, ...kept].join(', '));
  return named === null || NO_PLACE.test(named) ? null : named;
}
/** One lives in hope, on coffee, out of a suitcase, and between two towns. */
const NO_PLACE =
  /^(?:fear|peace|hope|denial|sin|a (?:world|dream|bubble|simulation)|the (?:moment|past|future|present|middle of|clouds)|work|home|bed|next|a (?:rush|hurry)|coffee|bread|tea|pizza|borrowed|an? (?:\w+ )?family|the \w+ties|the \d0s|earth|mars|the moon)\b|\band\b|\b(?:team|company|job|role|position|desk|department|vim|linux|mac)\b/iu;

export type Denial = 'no longer' | 'not';

/** Lists and items that are no single thing to like, hate or speak. */
function listed(value: string): readonly string[] | null {
  const text = tidy(value);
  return text === null ? null : items(text).flatMap((item) => tidy(item) ?? []);
}

const APART = /\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*/iu;
/** Longer items are clauses of their own rather than a list. */
const ITEM_WORDS_MAX = 3;

/** "tea, coffee and cake" as three; what belongs together as one. */
function items(value: string): readonly string[] {
  const parts = value
    .split(APART)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const short = parts.every((part) => part.split(' ').length <= ITEM_WORDS_MAX && !BARE_ADJECTIVE.test(part));
  return short && !PAIRS.test(value) && !/^(?:to|between) /iu.test(value) ? parts : [value];
}
