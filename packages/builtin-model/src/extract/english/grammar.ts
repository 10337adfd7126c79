import { isThird, lemmaOf } from './verbs.ts';

const CONTRACTIONS: readonly (readonly [RegExp, string])[] = [
  [/\bi'?m\b/giu, 'I am'],
  [/\bi'?ve\b/giu, 'I have'],
  [/\bi'll\b/giu, 'I will'],
  [/\bi'd\b/giu, 'I would'],
  [/\b(we)'re\b/giu, '$1 are'],
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

/** What the user says of themselves, as it is told of them. */
export const told = (text: string): string => PERSONS.reduce((said, [from, to]) => said.replace(from, to), text);

/** A clause goes on with a side remark from here. */
const ASIDE =
  /\s(?:when|while|because|since|although|though|if|unless|until|so that|which|who|where|whereas|as well as you|but|except that)\s.*$/iu;
const TRAILING =
  /[\s,]+(?:now|too|as well|though|again|actually|currently|right now|at the moment|these days|nowadays|anymore|any more|any longer|a lot|so much|very much|really|please|thanks|thank you|by the way|btw|you know|haha+|lol|fluently|already|at all|to be honest|honestly|i think|or something|and so on|and stuff|etc|then|instead|permanently|for good|recently|lately)$/iu;
const POINTING =
  /^(?:especially|particularly|mainly|mostly|it|its|that|this|these|those|them|him|her|he|she|they|so|what|how|why|when|if|something|anything|nothing|things?|stuff|you|your|yours|one|too|here|there|to (?:it|that|this)|the (?:idea|thought|sound|look|way|fact) ?.*)(?:\s|$)/iu;

/** An object of a statement, without asides and fillers; null when it only points at something said elsewhere. */
export function tidy(value: string): string | null {
  let text = value.replace(ASIDE, '').replace(/^[\s,:]+|[\s,.:!?]+$/gu, '');
  for (let before = ''; before !== text; ) {
    before = text;
    text = text.replace(TRAILING, '').replace(/[\s,.]+$/u, '');
  }
  return text === '' || POINTING.test(text) || text.length > VALUE_CHARS_MAX ? null : told(text);
}
/** Longer objects are stories, not facts. */
const VALUE_CHARS_MAX = 120;

/** A place: what follows its name with a small letter is a remark. */
export function place(value: string): string | null {
  const cut = value.replace(/\s(?:with|near|for|as|on my own|alone|together|and then|to (?!the))\b.*$/iu, '');
  const [head = '', ...rest] = cut.split(/\s*,\s*/u);
  const kept = /^\p{Lu}/u.test(head) ? rest.filter((part) => /^(?:the )?\p{Lu}/u.test(part)) : rest;
  const named = tidy([head, ...kept].join(', '));
  return named === null || NO_PLACE.test(named) ? null : named;
}
const NO_PLACE =
  /^(?:fear|peace|hope|a world|the (?:moment|past|future|present|middle of)|work|home|bed|next|a (?:rush|hurry))\b/iu;

export type Denial = 'no longer' | 'not';

/** "User lives in Oslo" → "User no longer lives in Oslo"; null where denying says nothing. */
export function denied(text: string, how: Denial): string | null {
  const parts = /^(User(?:'s .+?)?) (is|can|has|plans|wants|\w+) (.+)$/u.exec(text);
  const [, subject = '', verb = '', rest = ''] = parts ?? [];
  if (verb === 'is') return `${subject} is ${how} ${rest}`;
  if (verb === 'can') return how === 'not' ? `${subject} cannot ${rest}` : `${subject} can no longer ${rest}`;
  if (!isThird(verb)) return null;
  return how === 'no longer' ? `${subject} no longer ${verb} ${rest}` : `${subject} does not ${lemmaOf(verb)} ${rest}`;
}

const APART = /\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*/iu;
/** Pairs that are one thing. */
const PAIRS =
  /\b(?:mac and cheese|fish and chips|rock and roll|rhythm and blues|arts and crafts|bed and breakfast|salt and pepper|salt and vinegar|black and white|peanut butter and jelly|tom and jerry|dungeons and dragons|drum and bass|country and western|r and b|track and field|cookies and cream|gin and tonic)\b/iu;
const BARE_ADJECTIVE =
  /^(?:red|blue|green|white|black|yellow|dark|light|hot|cold|spicy|sweet|sour|salty|old|new|big|small|long|short|warm|dry|wet|loud|quiet|classical|modern|indoor|outdoor|fast|slow|both)$/iu;
/** Longer items are clauses of their own rather than a list. */
const ITEM_WORDS_MAX = 3;

/** "tea, coffee and cake" as three; what belongs together as one. */
export function items(value: string): readonly string[] {
  const parts = value
    .split(APART)
    .map((part) => part.trim())
    .filter((part) => part !== '');
  const short = parts.every((part) => part.split(' ').length <= ITEM_WORDS_MAX && !BARE_ADJECTIVE.test(part));
  return short && !PAIRS.test(value) && !/^(?:to|between) /iu.test(value) ? parts : [value];
}
