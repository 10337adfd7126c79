/** What people do as a rule. With an object it says something of itself; `WHOLE` ones do so alone, all of them with "every day". */
const LASTING =
  'collect play teach coach own drive ride smoke breed raise knit sew paint bake brew sing volunteer practise practice eat drink avoid skip cycle manage write'.split(
    ' ',
  );
const WHOLE = 'smoke swim dance paint sing cook climb surf ski hike meditate garden jog snore drive knit'.split(' ');
const OTHERS =
  'work live study learn run go walk read listen watch train travel visit meet wake get take use wear exercise camp fish sail box skate row support follow commute sleep pray attend see call do make cook dance'.split(
    ' ',
  );

/** What is worth telling once it has happened. */
const EVENTS =
  'adopted bought sold built won finished started quit visited graduated climbed completed founded launched published passed donated celebrated attended joined sprained twisted broke fractured injured hurt travelled traveled flew went met ran learned learnt inherited renovated proposed watched read swam cycled hiked baked planted crashed began'.split(
    ' ',
  );

const DOUBLING = /^(?:jog|run|swim|get|quit|sit|stop|skip|knit|plan|win)$/u;

const ALL = [...new Set([...LASTING, ...WHOLE, ...OTHERS])];
const BY_GERUND = new Map(ALL.map((lemma) => [gerund(lemma), lemma]));

export const isLasting = (lemma: string): boolean => LASTING.includes(lemma);
export const standsAlone = (lemma: string): boolean => WHOLE.includes(lemma);
export const isHabit = (lemma: string): boolean => ALL.includes(lemma);
export const isEvent = (past: string): boolean => EVENTS.includes(past);

/** "living" → "live"; null for what is no gerund of a known verb. */
export const fromGerund = (word: string): string | null => BY_GERUND.get(word) ?? null;

/** "lives" → "live" */
export function lemmaOf(word: string): string {
  if (word === 'has') return 'have';
  if (!/^[a-z]/u.test(word)) return word;
  if (/[^aeiou]ies$/u.test(word)) return `${word.slice(0, -3)}y`;
  return word.replace(/(?<=s|x|z|ch|sh|o)es$|(?<!s|^i|wa)s$/u, '');
}

/** "live" → "lives" */
export function third(lemma: string): string {
  if (lemma === 'have') return 'has';
  if (/[^aeiou]y$/u.test(lemma)) return `${lemma.slice(0, -1)}ies`;
  return /(?:s|x|z|ch|sh|o)$/u.test(lemma) ? `${lemma}es` : `${lemma}s`;
}

function gerund(lemma: string): string {
  if (/[^aeioy]e$/u.test(lemma)) return `${lemma.slice(0, -1)}ing`;
  return DOUBLING.test(lemma) ? `${lemma}${lemma.at(-1)}ing` : `${lemma}ing`;
}
