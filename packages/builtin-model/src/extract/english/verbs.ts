/** Verbs that say something about the person who says "I <verb> …"; talk, thought and transient states are left out. */
const REGULAR =
  `live work play cook bake paint enjoy love like hate dislike prefer adore own collect practice practise learn
study travel visit start finish graduate adopt marry move stay volunteer train coach climb hike ski surf dance sail fish knit sew
garden walk jog cycle exercise meditate listen watch smoke attend join raise breed host manage organise organize plan want
intend celebrate retire commute drop order subscribe save invest earn publish launch found design develop program photograph
film record perform compete race dive camp brew ferment taste suffer recover injure sprain twist fracture
stop avoid skip use carry inherit rent borrow renovate lease repair restore serve support follow pass receive reserve
weigh juggle foster separate divorce propose date relocate emigrate immigrate settle snore vote donate pray worship
row box wrestle skate snowboard bike`.split(/\s+/u);

/** lemma, past, participle */
const IRREGULAR =
  `go went gone|run ran run|swim swam swum|read read read|write wrote written|drive drove driven|ride rode ridden
|speak spoke spoken|eat ate eaten|drink drank drunk|buy bought bought|sell sold sold|win won won|lose lost lost|break broke broken
|get got got|take took taken|teach taught taught|build built built|make made made|grow grew grown|sing sang sung|draw drew drawn
|fly flew flown|leave left left|quit quit quit|wear wore worn|sleep slept slept|wake woke woken|keep kept kept|meet met met
|spend spent spent|lead led led|have had had|fall fell fallen|hurt hurt hurt|become became become|give gave given|begin began begun
|do did done|shoot shot shot|throw threw thrown|catch caught caught|feed fed fed|pay paid paid|bring brought brought`
    .split('|')
    .map((row) => row.trim().split(' '));

/** Verbs whose last letter is written twice. */
const DOUBLING = /^(?:jog|plan|stop|skip|knit|drop|program)$/u;

const LEMMAS = new Set([...REGULAR, ...IRREGULAR.map(([lemma]) => lemma ?? '')]);
const PASTS = new Set(['travelled', ...REGULAR.map(past), ...IRREGULAR.map(([, form]) => form ?? '')]);
const PARTICIPLES = new Set(['been', 'travelled', ...REGULAR.map(past), ...IRREGULAR.map(([, , form]) => form ?? '')]);
const BY_GERUND = new Map([
  ['travelling', 'travel'],
  ...[...LEMMAS].map((lemma): [string, string] => [gerund(lemma), lemma]),
] as [string, string][]);
const BY_THIRD = new Map([...LEMMAS].map((lemma) => [third(lemma), lemma]));
/** Verbs that say something without an object. */
const WHOLE = new Set(
  'smoke swim dance paint sing cook climb surf ski hike meditate garden jog snore drive retire'.split(' '),
);

export const isLemma = (word: string): boolean => LEMMAS.has(word.toLowerCase());
export const isPast = (word: string): boolean => PASTS.has(word.toLowerCase());
export const isParticiple = (word: string): boolean => PARTICIPLES.has(word.toLowerCase());
export const isGerund = (word: string): boolean => BY_GERUND.has(word.toLowerCase());
export const isThird = (word: string): boolean => BY_THIRD.has(word.toLowerCase());
export const standsAlone = (lemma: string): boolean => WHOLE.has(lemma.toLowerCase());

/** "lives" → "live"; any other word as it is. */
export const lemmaOf = (word: string): string => BY_THIRD.get(word) ?? (word === 'has' ? 'have' : word);

/** "living" → "live"; any other word as it is. */
export const fromGerund = (word: string): string => BY_GERUND.get(word.toLowerCase()) ?? word;

/** "live" → "lives" */
export function third(lemma: string): string {
  if (lemma === 'have') return 'has';
  if (/[^aeiou]y$/u.test(lemma)) return `${lemma.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh|o)$/u.test(lemma) ? `${lemma}es` : `${lemma}s`;
}

function past(lemma: string): string {
  if (lemma.endsWith('e')) return `${lemma}d`;
  if (/[^aeiou]y$/u.test(lemma)) return `${lemma.slice(0, -1)}ied`;
  return DOUBLING.test(lemma) ? `${lemma}${lemma.at(-1)}ed` : `${lemma}ed`;
}

function gerund(lemma: string): string {
  if (/[^aeioy]e$/u.test(lemma)) return `${lemma.slice(0, -1)}ing`;
  return DOUBLING.test(lemma) || /^(?:run|swim|get|win|quit|sit|begin)$/u.test(lemma)
    ? `${lemma}${lemma.at(-1)}ing`
    : `${lemma}ing`;
}
