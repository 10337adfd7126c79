import { sameText } from './normalise.ts';

/** Goes up whenever the same text gives other terms: an index made with another number has to be rebuilt. */
export const TERMS_VERSION = 3;

/**
 * The terms of the keyword leg, in order and with repeats: stems of words without the commonest ones, irregular
 * forms by their base; names as they are and in parts; single characters and pairs where a script does not separate words.
 * The frame of a fact has none.
 */
export const terms = (text: string): string[] => [...justRead(text, () => readTerms(text))];

/** The same for who keeps them. */
export function readTerms(text: string): readonly string[] {
  const told = withoutFrame(text);
  return BEYOND_ASCII.test(told) ? wordsOf(told).flatMap(termsOf) : termsOfAscii(told);
}

/** Up to four megabytes: a message is beside three others, which are found by its words as well, and all are read in a row. */
const justRead = remembering<readonly string[]>({ max: 500, length: 2_000 });

/** Nothing of the commonest words. */
export function termsOf(word: Word): readonly string[] {
  if (word.kind === 'unspaced') return charactersAndPairs(word.text);
  return word.kind === 'plain' ? plainTerms(word.text) : [word.text];
}

const plainTerms = (text: string): readonly string[] => plain(text, () => readPlain(text));

/** People use the same few thousand words. */
const plain = remembering<readonly string[]>({ max: 10_000, length: 64 });

function readPlain(text: string): readonly string[] {
  if (STOP_WORDS.has(text)) return [];
  return [/^[a-z]+$/.test(text) ? porterStem(IRREGULAR.get(text) ?? text) : text];
}

/** 北京人 → 北, 京, 人, 北京, 京人: a two-character word is found inside any longer run. */
export function charactersAndPairs(run: string): string[] {
  const characters = [...run];
  const pairs = characters.slice(1).map((character, i) => `${characters[i]}${character}`);
  return [...characters, ...pairs];
}

/** About ten megabytes of the beginnings of texts: those who talk now ask the same memories again and again. */
const remembered = remembering<ReadonlySet<string>>({ max: 10_000, length: 1_000 });

export const termSet = (text: string): ReadonlySet<string> => remembered(text, () => new Set(terms(text)));

/** A piece of text that can be looked for. */
export interface Word {
  /**
   * plain     letters and digits of a script that puts spaces between words, without apostrophes and accents
   * name      a spelling with signs in it that mean something: c++, node.js, user_id
   * unspaced  a run of a script without spaces, or of Hangul: there a part of a run is a word of its own
   * sign      one emoji, without skin tone
   */
  readonly kind: 'plain' | 'name' | 'unspaced' | 'sign';
  readonly text: string;
}

/** Longest word kept, in UTF-16 units: beyond are encoded data and links, distinguished well enough by their beginning. */
const LONGEST = 64;

/** The signs of scripts that put no spaces between words, and Hangul, where a part of a run is a word of its own: what stands in brackets of a pattern. */
export const UNSPACED =
  '\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Bopomofo}\\u30fc' +
  '\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}';
const LETTERS = `(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`;
/** Alternatives in order; each begins where the one before cannot go on, so that the whole pattern is linear. */
const PIECES = new RegExp(
  `(?<unspaced>[${UNSPACED}]+)|(?<spaced>${LETTERS}(?:[._']${LETTERS})*(?:(?:\\+\\+|#)(?![\\p{L}\\p{N}]))?)` +
    '|(?<sign>\\p{Extended_Pictographic}|\\p{Regional_Indicator}{2})',
  'gu',
);
const APOSTROPHES = /[’‘ʼʻ＇`]/gu;
const HIDDEN = /[\u00ad\u200b-\u200d\u2060\ufeff]|\ufe0e|\ufe0f/gu;

/** The same for a text of ASCII alone, as most are, in a fraction of the time. */
const ASCII_PIECES = /[a-z0-9]+(?:[._'][a-z0-9]+)*(?:(?:\+\+|#)(?![a-z0-9]))?/g;
const BEYOND_ASCII = /[^\0-\x7f]/;
const MORE_THAN_LETTERS = /[^a-z0-9]/;

/** The words of a text in order, in lower case and compatibility form. Takes time in proportion to the text's length. */
export function wordsOf(text: string): Word[] {
  if (!BEYOND_ASCII.test(text)) return wordsOfAscii(text);
  const unified = text.normalize('NFKC').toLowerCase().replace(HIDDEN, '').replace(APOSTROPHES, "'");
  return [...unified.matchAll(PIECES)]
    .flatMap(({ groups }) => {
      if (groups?.spaced !== undefined) return spacedWords(folded(groups.spaced));
      if (groups?.unspaced !== undefined) return [{ kind: 'unspaced' as const, text: groups.unspaced }];
      return [{ kind: 'sign' as const, text: groups?.sign ?? '' }];
    })
    .filter((word) => word.text !== '');
}

const wordsOfAscii = (text: string): Word[] =>
  asciiPieces(text).flatMap((piece) =>
    MORE_THAN_LETTERS.test(piece) ? spacedWords(piece).filter((word) => word.text !== '') : [word('plain', piece)],
  );

const asciiPieces = (text: string): readonly string[] =>
  text.toLowerCase().replaceAll('`', "'").match(ASCII_PIECES) ?? [];

/** The terms of its words, without making a word of each. */
function termsOfAscii(text: string): readonly string[] {
  const found: string[] = [];
  for (const piece of asciiPieces(text)) {
    const isPlain = piece.length <= LONGEST && !MORE_THAN_LETTERS.test(piece);
    for (const term of isPlain ? plainTerms(piece) : wordsOfAscii(piece).flatMap(termsOf)) found.push(term);
  }
  return found;
}

/** Latin letters without accents: many people type without them. Other scripts keep their marks. */
function folded(text: string): string {
  if (!BEYOND_ASCII.test(text)) return text;
  return text
    .normalize('NFD')
    .replace(/(\p{Script=Latin})\p{M}+/gu, '$1')
    .replace(/ß/gu, 'ss')
    .normalize('NFC');
}

function spacedWords(spaced: string): Word[] {
  if (/[+#]$/.test(spaced)) return [word('name', spaced)];
  const parts = spaced.split(/[._]/).map(withoutApostrophe);
  if (parts.length === 1) return parts.map((part) => word('plain', part));
  if (parts.every((part) => [...part].length === 1)) return [word('plain', parts.join(''))]; // u.s., d.c.
  if (parts.every((part) => /^\p{N}+$/u.test(part))) return [word('name', spaced)]; // 3.14
  const whole = parts.join('').length < LONGEST ? [word('name', spaced)] : [];
  return [...whole, ...parts.map((part) => word('plain', part))];
}

/** it's → it, they're → they, l'eau → eau, o'brien → obrien; nothing of don't, as of the other auxiliary verbs. */
function withoutApostrophe(part: string): string {
  if (!part.includes("'")) return part;
  if (part.endsWith("n't")) return '';
  const base = part.replace(/'(?:s|re|ve|ll|d|m)$/, '');
  return base.replace(/^(?:[cdjlmnst]|qu)'(?=.)/, '').replaceAll("'", '');
}

const word = (kind: Word['kind'], text: string): Word => ({ kind, text: text.slice(0, LONGEST).toWellFormed() });

/** English words too common to find anything by. "us" is missing on purpose: it is also a country. */
const STOP_WORDS_LISTED = `
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing down during each few for from further had has have having he her here hers herself him
himself his how i if in into is it its itself just me more most my myself no nor not now of off on once only or other
our ours ourselves out over own same she should so some such than that the their theirs them themselves then there
these they this those through to too under until up very was we were what when where which while who whom why will with
would you your yours yourself yourselves
`;

export const STOP_WORDS: ReadonlySet<string> = new Set(STOP_WORDS_LISTED.trim().split(/\s+/));

/** Made when first asked for, and kept: few processes need every list of words, and reading them would delay the start of each. */
export function lazily<Made>(make: () => Made): () => Made {
  let made: { readonly it: Made } | null = null;
  return () => {
    made ??= { it: make() };
    return made.it;
  };
}

/** What is made of each thing, made once. */
export function once<Thing, Made>(make: (thing: Thing) => Made): (thing: Thing) => Made {
  const known = new Map<Thing, Made>();
  return (thing) => {
    const before = known.get(thing);
    if (before !== undefined) return before;
    const made = make(thing);
    known.set(thing, made);
    return made;
  };
}

/**
 * Remembers what was made of the last texts that something was made of: at most `max`, and of none that is longer. What is
 * made has to follow from the text alone. In two halves, of which the older one goes as a whole: to find the oldest of one map, all
 * that left it before has to be passed.
 */
export function remembering<T>({ max, length }: { readonly max: number; readonly length: number }) {
  let newer = new Map<string, T>();
  let older = new Map<string, T>();
  return (text: string, make: () => T): T => {
    if (text.length > length) return make();
    const known = newer.get(text);
    if (known !== undefined) return known;
    const made = older.get(text) ?? make();
    if (newer.size >= max / 2) [newer, older] = [new Map(), newer];
    newer.set(text, made);
    return made;
  };
}

/** A text, or its terms for who compares it often. */
export type Comparable = string | ReadonlySet<string>;

/** How much two texts speak of the same: shared terms among all their terms (Jaccard), 0…1. */
export function overlap(a: Comparable, b: Comparable): number {
  const [left, right] = [setOf(a), setOf(b)];
  const shared = countShared(left, right);
  const all = left.size + right.size - shared;
  return all === 0 ? sameSpelling(a, b) : shared / all;
}

/** Whether terms overlap by so much at least: most do not, which a few of them tell. */
export function overlapsBy(least: number, a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const missing = mayMiss(least, a.size, b.size);
  if (missing < 0) return false;
  let missed = 0;
  for (const term of a) {
    if (b.has(term)) continue;
    missed += 1;
    if (missed > missing) return false;
  }
  return true;
}

/** How many terms of the first of two texts that overlap by so much may be missing from the second; below 0: they cannot overlap. */
export function mayMiss(least: number, first: number, second: number): number {
  const missing = first - (least * (first + second)) / (1 + least);
  return first + second === 0 || missing < -SLIGHT ? -1 : missing + SLIGHT;
}

/** What rounding does to a number of terms, and less than one of them. */
const SLIGHT = 1e-6;

/** How much of the first text is said in the second: its terms found there (containment), 0…1. */
export function containment(part: Comparable, whole: Comparable): number {
  const [asked, given] = [setOf(part), setOf(whole)];
  return asked.size === 0 ? sameSpelling(part, whole) : countShared(asked, given) / asked.size;
}

const setOf = (one: Comparable): ReadonlySet<string> => (typeof one === 'string' ? termSet(one) : one);

function countShared(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let shared = 0;
  for (const term of a) if (b.has(term)) shared += 1;
  return shared;
}

/** Texts without any term ("??", "not me") are alike only if they are equal. */
function sameSpelling(a: Comparable, b: Comparable): number {
  return typeof a === 'string' && typeof b === 'string' && sameText(a, b) ? 1 : 0;
}

/**
 * The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980), with the two departures
 * its author recommends: -bli becomes -ble and -logi becomes -log. For lower-case words of a–z only.
 */
export const porterStem = (word: string): string => (word.length < 3 ? word : stems(word, () => stemOf(word)));

const stems = remembering<string>({ max: 10_000, length: 64 });

function stemOf(word: string): string {
  return [plural, pastAndGerund, finalY, doubleSuffix, ending, lastSuffix, finalE, doubleL].reduce(
    (stem, step) => step(stem),
    word,
  );
}

type Rules = readonly (readonly [suffix: string, replacement: string])[];

/** Steps 2 and 3: of the suffixes that fit, the longest decides; so longer ones come first. */
const STEP_2: Rules = [
  ['ational', 'ate'],
  ['ization', 'ize'],
  ['iveness', 'ive'],
  ['fulness', 'ful'],
  ['ousness', 'ous'],
  ['tional', 'tion'],
  ['biliti', 'ble'],
  ['entli', 'ent'],
  ['ousli', 'ous'],
  ['ation', 'ate'],
  ['alism', 'al'],
  ['aliti', 'al'],
  ['iviti', 'ive'],
  ['enci', 'ence'],
  ['anci', 'ance'],
  ['izer', 'ize'],
  ['alli', 'al'],
  ['ator', 'ate'],
  ['logi', 'log'],
  ['bli', 'ble'],
  ['eli', 'e'],
];
const STEP_3: Rules = [
  ['icate', 'ic'],
  ['ative', ''],
  ['alize', 'al'],
  ['iciti', 'ic'],
  ['ical', 'ic'],
  ['ness', ''],
  ['ful', ''],
];
const STEP_4 = 'ement ance ence able ible ment ant ent ion ism ate iti ous ive ize al er ic ou'.split(' ');

/** Step 1a. */
function plural(word: string): string {
  if (word.endsWith('sses') || word.endsWith('ies')) return word.slice(0, -2);
  return word.endsWith('s') && !word.endsWith('ss') ? word.slice(0, -1) : word;
}

/** Step 1b. */
function pastAndGerund(word: string): string {
  if (word.endsWith('eed')) return measure(word.slice(0, -3)) > 0 ? word.slice(0, -1) : word;
  const suffix = ['ed', 'ing'].find((one) => word.endsWith(one));
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  return hasVowel(stem) ? repaired(stem) : word;
}

/** What is left of a word without -ed or -ing, spelled as its base form is. */
function repaired(stem: string): string {
  if (/(?:at|bl|iz)$/.test(stem)) return `${stem}e`;
  if (endsDouble(stem) && !/[lsz]$/.test(stem)) return stem.slice(0, -1);
  return measure(stem) === 1 && endsShort(stem) ? `${stem}e` : stem;
}

/** Step 1c. */
function finalY(word: string): string {
  return word.endsWith('y') && hasVowel(word.slice(0, -1)) ? `${word.slice(0, -1)}i` : word;
}

const doubleSuffix = (word: string): string => replaced(word, STEP_2);
const ending = (word: string): string => replaced(word, STEP_3);

function replaced(word: string, rules: Rules): string {
  const rule = rules.find(([suffix]) => word.endsWith(suffix));
  if (rule === undefined) return word;
  const stem = word.slice(0, -rule[0].length);
  return measure(stem) > 0 ? stem + rule[1] : word;
}

/** Step 4. */
function lastSuffix(word: string): string {
  const suffix = STEP_4.find((one) => word.endsWith(one));
  if (suffix === undefined) return word;
  const stem = word.slice(0, -suffix.length);
  if (suffix === 'ion' && !/[st]$/.test(stem)) return word;
  return measure(stem) > 1 ? stem : word;
}

/** Step 5a. */
function finalE(word: string): string {
  if (!word.endsWith('e')) return word;
  const stem = word.slice(0, -1);
  const times = measure(stem);
  return times > 1 || (times === 1 && !endsShort(stem)) ? stem : word;
}

/** Step 5b. */
function doubleL(word: string): string {
  return word.endsWith('ll') && measure(word) > 1 ? word.slice(0, -1) : word;
}

/** How often a vowel run is followed by a consonant run: the m of the paper. */
const measure = (stem: string): number => shapeOf(stem).split('vc').length - 1;

const hasVowel = (stem: string): boolean => shapeOf(stem).includes('v');

const endsDouble = (stem: string): boolean => stem.at(-1) === stem.at(-2) && shapeOf(stem).endsWith('cc');

/** Consonant, vowel, consonant other than w, x, y: the *o of the paper. */
const endsShort = (stem: string): boolean => shapeOf(stem).endsWith('cvc') && !/[wxy]$/.test(stem);

/** A word as consonants and vowels, "cvvc" for "rain". A y is a vowel after a consonant. */
function shapeOf(stem: string): string {
  let shape = '';
  for (const letter of stem) {
    const vowel = letter === 'y' ? shape.endsWith('c') : 'aeiou'.includes(letter);
    shape += vowel ? 'v' : 'c';
  }
  return shape;
}

/**
 * base: other forms. A question has the base (did she buy?), what was said another form (I bought): 1 point of R@5. Forms that
 * are as often another word (lives, leaves, rose, wound) are missing on purpose.
 */
const EXCEPTIONS_LISTED = `
arise: arose arisen; awake: awoke awoken; bear: bore borne; beat: beaten; become: became; begin: began begun; bend: bent;
bind: bound; bite: bit bitten; bleed: bled; blow: blew blown; break: broke broken; breed: bred; bring: brought;
build: built; burn: burnt; buy: bought; catch: caught; choose: chose chosen; come: came; creep: crept; deal: dealt; dig: dug;
draw: drew drawn; dream: dreamt; drink: drank drunk; drive: drove driven; eat: ate eaten; fall: fell fallen; feed: fed;
feel: felt; fight: fought; find: found; flee: fled; fly: flew flown; forbid: forbade forbidden; forget: forgot forgotten;
forgive: forgave forgiven; freeze: froze frozen; get: got gotten; give: gave given; go: went gone goes; grow: grew grown;
hang: hung; hear: heard; hide: hid hidden; hold: held; keep: kept; kneel: knelt; know: knew known; lay: laid; lead: led;
leap: leapt; learn: learnt; leave: left; lend: lent; lie: lain; light: lit; lose: lost; make: made; mean: meant; meet: met;
mow: mown; pay: paid; prove: proven; ride: rode ridden; ring: rang rung; rise: risen; run: ran; say: said; see: saw seen;
seek: sought; sell: sold; send: sent; sew: sewn; shake: shook shaken; shine: shone; shoot: shot; show: shown;
shrink: shrank shrunk; sing: sang sung; sink: sank sunk; sit: sat; sleep: slept; slide: slid; smell: smelt; speak: spoke spoken;
speed: sped; spend: spent; spin: spun; spring: sprang sprung; stand: stood; steal: stole stolen; stick: stuck; sting: stung;
strike: struck; strive: strove striven; swear: swore sworn; sweep: swept; swell: swollen; swim: swam swum; swing: swung;
take: took taken; teach: taught; tear: tore torn; tell: told; think: thought; throw: threw thrown;
understand: understood; wake: woke woken; wear: wore worn; weave: wove woven; weep: wept; win: won; withdraw: withdrew withdrawn; write: wrote written;
child: children; foot: feet; goose: geese; man: men; mouse: mice; person: people; tooth: teeth; woman: women; wife: wives;
knife: knives; half: halves; shelf: shelves; wolf: wolves; loaf: loaves
`;

/** Forms that no rule of spelling leads back to their base, with that base. */
const IRREGULAR: ReadonlyMap<string, string> = new Map(
  EXCEPTIONS_LISTED.split(';').flatMap((entry) => {
    const [base = '', forms = ''] = entry.split(':').map((part) => part.trim());
    return forms.split(/\s+/).map((form) => [form, base] as const);
  }),
);

/**
 * A text without its frame: the words for the user with which nearly every fact begins ("User", "The user's", "Nutzer", "用户的"), and by
 * which questions ask for them ("What does the user like?"). Any two facts have them in common, so that they say nothing of what a
 * fact is about. Only the beginning is a frame: "User manages the users table" is about users, and is found by "users table".
 */
export function withoutFrame(text: string): string {
  const began = text.replace(BEGINNING, '');
  const told = MARK.test(began) || ASKS.test(began) ? began.split(SENTENCES).map(unasked).join('') : began;
  return told === text || !SAYS.test(told) ? text : told;
}

/** Words for the user, as the product calls them in facts; of languages that inflect nouns, the forms in which a fact may begin. */
export const FRAME_WORDS: readonly string[] = words(`
  user nutzer nutzers nutzerin benutzer benutzers benutzerin usuario usuaria usuário usuária utilisateur utilisatrice utente utilizator
  utilizatorul gebruiker gebruikster bruger brugeren bruker brukeren användare användaren käyttäjä użytkownik użytkowniczka użytkownika
  użytkownikowi uživatel uživatelka пользователь пользователя пользователю пользовательница користувач користувача kullanıcı pengguna
  用户 用戶 使用者 ユーザー ユーザ 사용자`);

/** What may stand before them, and be apart or not; in English not "a", which is any user. */
const ARTICLES = words(`the der die das den dem des el la al del o a(?!\\s+user) ao do da de lo il у`);
const ANY_USER = '(?<!(?<![\\p{L}])(?:a|any|each|every|one|no)\\s)';
const CONTRACTED = words(`l all dell d`);
/** What binds them to what follows, in scripts without spaces. */
const PARTICLES = words('的 は が を に も と の 는 의 가 이 을 를 에게 은');
/** What makes another word of them: users, a user name. */
const NO_FRAME_BEFORE = '们|們|名(?!叫|字|为)|들|[\\p{Script=Katakana}ー]';
/** After "user" these are one word with it, and no fact goes on so. */
const COMPOUNDS = words(`
  account accounts agent base data database databases experience feedback flow flows group groups id ids input interface interfaces interview
  journey journeys management manual name permission permissions profile profiles research role session sessions story stories table
  tables testing`);

function words(listed: string): readonly string[] {
  return listed.trim().split(/\s+/);
}

const UNSPACED_WORD = /[\p{Script=Han}\p{Script=Katakana}\p{Script=Hangul}]/u;
const anyOf = (some: readonly string[]): string => some.join('|');

const SPACED =
  `(?:(?:${anyOf(ARTICLES)})\\s+|(?:à\\s+)?(?:${anyOf(CONTRACTED)})['’])?` +
  `(?:${anyOf(FRAME_WORDS.filter((word) => !UNSPACED_WORD.test(word)))})` +
  `(?:['’]s(?![\\p{L}\\p{N}])|(?![\\p{L}\\p{M}\\p{N}_@'’-]|\\.[\\p{L}\\p{N}]|\\s+(?:${anyOf(COMPOUNDS)})(?![\\p{L}\\p{N}])))`;
const RUN_ON = `(?:${anyOf(FRAME_WORDS.filter((word) => UNSPACED_WORD.test(word)))})(?!${NO_FRAME_BEFORE})(?:${anyOf(PARTICLES)})?`;

const BEGINNING = new RegExp(`^[\\s"'“”„«‘’(（「『*•–-]*(?:${SPACED}|${RUN_ON})`, 'iu');
const WITHIN = new RegExp(`(?<![\\p{L}\\p{M}\\p{N}_.@'’-])${ANY_USER}${SPACED}|${RUN_ON}`, 'giu');

const SENTENCES = /(?<=[.!?。！？\n])/u;
const MARK = /[?？]/u;
/** Questions that are typed without a mark. */
const ASKS =
  /^\s*(?:what|which|who|whom|whose|where|when|why|how|tell|(?:do|does|did|is|was|has|had|can|will|would|should)\s+(?:the\s+)?user)(?![\p{L}\p{N}'’-])/iu;
const SAYS = /[\p{L}\p{N}\p{Extended_Pictographic}]/u;

const unasked = (sentence: string): string =>
  MARK.test(sentence.slice(-1)) || ASKS.test(sentence) ? sentence.replace(WITHIN, ' ') : sentence;
