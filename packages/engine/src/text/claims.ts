import { sharedBeginning } from './normalise.ts';
import {
  claimedIn,
  datesFrom,
  hasNumber,
  isCalendarWord,
  QUANTITY_WORDS,
  type Quantities,
  quantitiesIn,
} from './quantities.ts';
import {
  FRAME_WORDS,
  lazily,
  once,
  STOP_WORDS,
  termSet,
  terms,
  termsOf,
  UNSPACED as UNSPACED_SIGNS,
  wordsOf,
} from './terms.ts';
import { aliasesIn, phrasesIn, slightIn, thingsOf } from './wording.ts';

/** What one text says, as others are held against it. */
export interface Words {
  /** In order, with a space around each, in one spelling. */
  readonly plain: string;
  readonly words: ReadonlySet<string>;
  readonly terms: ReadonlySet<string>;
  /** The beginnings of longer words: what is bent or joined in another way begins alike. */
  readonly begins: ReadonlySet<string>;
  /** What it is about, whatever word for it is used. */
  readonly things: ReadonlySet<number>;
  readonly quantities: Quantities;
  /** Most of it is in a script with capital letters. */
  readonly isCased: boolean;
}

/** As many letters as the beginnings have that are known of a text. */
export const BEGIN = 5;

export function wordsIn(text: string): Words {
  const plain = plainOf(text);
  const words = new Set(plain.split(' '));
  words.delete('');
  const aliases = aliasesIn(text, plain, words).join(' ');
  if (aliases !== '') for (const word of aliases.split(' ')) words.add(word);
  const terms = aliases === '' ? termSet(text) : new Set([...termSet(text), ...termSet(aliases)]);
  return {
    ...{ plain, words, terms },
    begins: new Set(
      [...words].flatMap((word) => (word.length >= BEGIN && !common().has(word) ? [word.slice(0, BEGIN)] : [])),
    ),
    things: new Set([...[...words, ...terms].flatMap(thingsOf), ...phrasesIn(plain).map(({ thing }) => thing)]),
    quantities: quantitiesIn(text),
    isCased: casedShare(text) >= 0.5,
  };
}

/** Letters and digits alone, in one case, without the accents that many people leave out. */
export const plainOf = (text: string): string => {
  const folded = foldedOf(text.normalize('NFKC').toLowerCase());
  const apart = UNSPACED.test(folded) ? folded.replace(RUNS, ' $& ') : folded;
  return ` ${apart.replace(NOT_IN_WORDS, ' ').trim()} `;
};

/** Without accents. */
export const foldedOf = (text: string): string =>
  PLAIN.test(text) ? text : text.normalize('NFD').replace(ACCENTS, '$1').normalize('NFC');

const PLAIN = /^[\0-\x7f]*$/u;
const ACCENTS = /(\p{Script=Latin})\p{M}+/gu;
const NOT_IN_WORDS = /[^\p{L}\p{M}\p{N}]+/gu;

/** The share of its letters that are of a script with capital letters. */
export function casedShare(text: string): number {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  return letters === 0 ? 1 : (text.match(/[\p{Lu}\p{Ll}\p{Lt}]/gu)?.length ?? 0) / letters;
}

/** Between texts that were joined: no word, so that nothing stands in two of them. */
const APART = '\n';

/** Many texts as one, to be looked through at once: how long that takes follows from their length, not from their number. */
export const joinedWords = (said: readonly Words[]): Words => ({
  plain: said.map(({ plain }) => plain).join(APART),
  words: new Set(said.flatMap(({ words }) => [...words])),
  terms: new Set(said.flatMap(({ terms }) => [...terms])),
  begins: new Set(said.flatMap(({ begins }) => [...begins])),
  things: new Set(said.flatMap(({ things }) => [...things])),
  quantities: {
    numbers: new Set(said.flatMap(({ quantities }) => [...quantities.numbers])),
    months: new Set(said.flatMap(({ quantities }) => [...quantities.months])),
    weekdays: new Set(said.flatMap(({ quantities }) => [...quantities.weekdays])),
  },
  isCased: said.some(({ isCased }) => isCased),
});

/** Whether a quote stands in a text; with an ellipsis in it, its pieces one after the other. Of joined texts: in one of them. */
export function standsIn(quote: string, { plain }: Pick<Words, 'plain'>): boolean {
  const [first, ...others] = quote
    .split(ELLIPSIS)
    .map(plainOf)
    .filter((piece) => piece.trim() !== '')
    .map((piece) => (UNSPACED.test(piece) ? piece.trim() : piece));
  if (first === undefined) return false;
  for (let at = plain.indexOf(first); at !== -1; ) {
    const end = plain.indexOf(APART, at);
    const rest = plain.slice(at + first.length - 1, end === -1 ? plain.length : end);
    if (others.length === 0 || standInOrder(others, rest)) return true;
    at = end === -1 ? -1 : plain.indexOf(first, end);
  }
  return false;
}

function standInOrder(pieces: readonly string[], text: string): boolean {
  let from = 0;
  for (const piece of pieces) {
    const at = text.indexOf(piece, from);
    if (at === -1) return false;
    from = at + piece.length - 1;
  }
  return true;
}

const ELLIPSIS = /…|\.{3,}|\[\s*(?:…|\.{3})\s*\]/u;

export const UNSPACED = new RegExp(`[${UNSPACED_SIGNS}]`, 'u');
const RUNS = new RegExp(`${UNSPACED.source}+`, 'gu');

/** What a text claims: everything in it that has to be found in what was said. */
export interface Claims {
  readonly names: readonly string[];
  readonly quantities: ReturnType<typeof claimedIn>;
  /** Its words without those that any fact of its kind has, each as often as it stands there. */
  readonly words: readonly string[];
  /** Those of them that say little by themselves; all, where they are what any fact has. */
  readonly slight: ReadonlySet<string>;
  readonly isBare: boolean;
  /** The same of scripts without spaces: what is left of each run. */
  readonly runs: readonly string[];
  readonly isCased: boolean;
}

export function claimsOf(text: string): Claims {
  const all = wordsOf(text).flatMap((word) => {
    const found = termsOf(word).filter(
      (term) => word.kind !== 'unspaced' && !/^\p{N}/u.test(term) && !figureTerms().has(term),
    );
    return found.map((term) => ({ raw: word.text, term }));
  });
  const ofText = all.filter(({ term }) => !common().has(term));
  const runs = (text.normalize('NFKC').match(RUNS) ?? []).flatMap(withoutCommon);
  const isBare = ofText.length === 0 && runs.length === 0;
  const words = isBare ? all.filter(({ term }) => !frame().has(term)) : ofText;
  const isSlight = slightIn(text);
  return {
    names: namesIn(text),
    quantities: claimedIn(text),
    words: words.map(({ term }) => term),
    slight: new Set(words.flatMap(({ raw, term }) => (isBare || isSlight(raw) ? [term] : []))),
    ...{ runs, isBare },
    isCased: casedShare(text) >= 0.5,
  };
}

const figureTerms = lazily(() => termSet(QUANTITY_WORDS.join(' ')));

const withoutCommon = (run: string): readonly string[] =>
  run
    .replace(COMMON_RUNS, ' ')
    .split(/\s+/u)
    .filter((part) => part !== '');

/** Words for whom facts are about, wherever they stand in them: they say nothing of where a fact came from. */
const frame = lazily(() => new Set([...FRAME_WORDS, 'assistant', 'agent', '助手'].flatMap(terms)));

/** The words by which a fact is held against what was said, and against other facts. */
export const factTerms = (text: string): ReadonlySet<string> =>
  new Set([...termSet(text)].filter((term) => !frame().has(term)));

/** What facts of any kind say about anybody, and how they say that something changed. */
const common = lazily(
  () =>
    new Set([
      ...frame(),
      ...termSet(
        'live work like love enjoy prefer name named call called own want plan intend hope hobby favourite favorite interest interested age aged old year month week day ' +
          'person people currently now former formerly previously anymore longer recently still also use used need try trying get gets got go goes going went make makes ' +
          'feel feels think thinks believe believes say says said mention mentioned state stated tell told know knows known start started begin began become became ' +
          'since without within until consume disease illness condition last full nickname job ' +
          'born come from move moved change changed instead time thing lot new take taking have having keep do does please wish forget forgotten remember mr mrs ms dr',
      ),
      ...termSet(
        'der die das den dem des ein eine einen einem einer eines und oder aber ist sind war hat haben heißt heisst wohnt lebt arbeitet mag liebt isst trinkt spricht möchte will plant ' +
          'seit jetzt früher nicht kein keine keinen mehr in im auf bei mit von vom zu zum zur aus als für an am sein seine seinen seiner ihr ihre ihren ihrer sich name jahr jahre alt gerne gern wurde nach um auch wegen ohne bis konsumiert krankheit erkrankung job muss soll kann darf',
      ),
      ...termSet(
        'el la los las un una unos unas y o pero es son era tiene vive trabaja gusta gustan encanta llama quiere planea desde ahora antes no ya en de del con por para a al se su sus que como más ' +
          'años año nombre edad prefiere está nació sin hasta causa consume enfermedad trabajo puede debe',
      ),
      ...termSet(
        'le la les un une des et ou mais est sont a ont habite vit travaille aime adore appelle veut prévoit depuis maintenant avant ne pas plus en de du au aux avec par pour à son sa ses se que qui comme ans an nom âge préfère né née aux sans chez cause consomme ses maladie emploi doit peut',
      ),
      ...termSet(
        'il lo gli uno e ha abita vive lavora piace ama chiama vuole di con per anni nome um uma o os as mora trabalha gosta chama quer tem há anos',
      ),
      ...termSet('и в на с по из живёт живет работает любит зовут хочет лет года имя есть у не больше теперь'),
    ]),
);

/** The same of Chinese, Japanese and Korean. */
const COMMON_RUNS =
  /用户|助手|上个?月|下个?月|上周|下周|今天|昨[天晚]|明天|去年|明年|因为|名字|名前|姓名|名叫|叫做|喜欢|喜爱|热爱|爱好|想要|希望|打算|计划|现在|目前|以前|之前|曾经|已经|不再|正在|住在|居住|来自|搬到|搬去|工作|职业|今年|养了|养着|自己|他们|她们|使用|需要|觉得|认为|[的是在了有和与叫姓岁年月日个只一不没也都很把被给对从于自起将已到来说做为于着过吗呢啊他她它其这那]|去(?!世)|ユーザー|アシスタント|[ぁ-ん]+|사용자(?:는|의|가|이|에게)?|(?:은|는|이|가|을|를|에|에서|의|로|으로)(?=\s|$)/gu;

/** Before a word with a capital these say that it is no name, in German. */
const DETERMINERS: ReadonlySet<string> = new Set(
  [
    'der die das den dem des ein eine einen einem einer eines kein keine keinen keinem keiner mein meine meinen meinem meiner',
  ]
    .concat(
      'sein seine seinen seinem seiner ihr ihre ihren ihrem ihrer unser unsere zwei drei vier fünf viel viele wenig mehr zum zur im am beim vom ins ans'.split(
        ' ',
      ),
    )
    .flatMap((words) => words.split(' ')),
);
/** With a capital in titles, at the head of a list or by custom, and no names. */
const NOT_NAMES: ReadonlySet<string> = new Set(
  'mr mrs ms dr prof herr frau monsieur madame señor señora sir ok okay pm am tv i uhr euro'.split(' '),
);
/** What begins a sentence is a name where one of these goes on. */
const SAYS_OF_ONE =
  /^(?:['’]s?\s|\s+(?:is|was|has|had|lives|works|likes|loves|enjoys|prefers|speaks|plays|wants|plans|owns|moved|and|ist|hat|wohnt|lebt|arbeitet|mag|es|tiene|vive|trabaja|est|a|habite|travaille)\s)/u;
const TOKEN = new RegExp(`(?:(?!${UNSPACED.source})[\\p{L}\\p{M}\\p{N}])+`, 'gu');
const BEGINS_AFTER = /[.!?:;\n"“„«(]\s*$/u;

/** 2026-03-09T10:00:00Z: what has a capital in it is no name. */
const MOMENTS = /(?<=\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d+)?)?Z?/gu;

interface Token {
  readonly token: string;
  readonly at: number;
}

/** Names, as far as capital letters show them. */
function namesIn(written: string): readonly string[] {
  if (!UPPER.test(written)) return [];
  const text = written.replaceAll(MOMENTS, ' ');
  const tokens = [...text.matchAll(TOKEN)].map(({ 0: token, index: at }) => ({ token, at }));
  if (isTitle(tokens)) return [];
  const isMeant = (one: Token, i: number): boolean => {
    const isFirst = i === 0 || BEGINS_AFTER.test(text.slice(0, one.at));
    if (isFirst) return SAYS_OF_ONE.test(text.slice(one.at + one.token.length));
    return !isNounAfter(tokens[i - 1]?.token.toLowerCase() ?? '', tokens);
  };
  const isThing = isGerman(tokens) ? isGermanNoun : () => false;
  return tokens
    .filter((one, i) => mayBeName(one) && isMeant(one, i) && !isThing(one))
    .map(({ token }) => plainOf(token).trim());
}

function mayBeName({ token }: Token): boolean {
  const word = token.toLowerCase();
  if (!UPPER.test(token) || [...token].length < 2) return false;
  return !(
    NOT_NAMES.has(word) ||
    STOP_WORDS.has(word) ||
    isCalendarWord(word) ||
    [...termSet(word)].every((term) => frame().has(term))
  );
}

/** German gives every noun a capital: those that are known as words for things, and those that are made of other words, are no names. */
const isGermanNoun = ({ token }: Token): boolean =>
  /(?:ung|heit|keit|schaft|tät|tion|ismus)(?:en)?$/u.test(token) || thingsOf(plainOf(token).trim()).length > 0;

const isNounAfter = (previous: string, tokens: readonly Token[]): boolean =>
  DETERMINERS.has(previous) || (/(?:e|en|er|es|em)$/u.test(previous) && isGerman(tokens));

const UPPER = /[\p{Lu}\p{Lt}]/u;
const GERMAN: ReadonlySet<string> = new Set(
  'der die das nutzer nutzerin benutzer ist hat wohnt mag heißt arbeitet und nicht seit mit'.split(' '),
);
const isGerman = (tokens: readonly Token[]): boolean =>
  tokens.some(({ token }) => /^(?:be)?nutzer(?:s|in)?$/iu.test(token)) ||
  tokens.filter(({ token }) => GERMAN.has(token.toLowerCase())).length >= 2;

/** Where every word has a capital, it says nothing of any of them. */
const isTitle = (tokens: readonly Token[]): boolean => {
  const weighty = tokens.filter(({ token }) => /^\p{L}{2,}/u.test(token) && !STOP_WORDS.has(token.toLowerCase()));
  return weighty.length >= 4 && weighty.every(({ token }) => UPPER.test(token.slice(0, 1)));
};

/** People and languages by another word than their country. */
const DEMONYMS = new Map(
  'french:france spanish:spain dutch:netherlands dutch:holland polish:poland danish:denmark swedish:sweden finnish:finland turkish:turkey greek:greece english:england irish:ireland scottish:scotland welsh:wales swiss:switzerland norwegian:norway british:britain thai:thailand portuguese:portugal'
    .split(' ')
    .flatMap((pair) => [pair.split(':') as [string, string], pair.split(':').toReversed() as [string, string]]),
);

/** Endings by which names are bent; in scripts and languages that bend them, a few letters at the end. */
function isSameName(name: string, said: string): boolean {
  if (name === said || name === `${said}s` || said === `${name}s`) return true;
  if (DEMONYMS.get(name) === said || isPeopleOf(name, said) || isPeopleOf(said, name)) return true;
  if (!/\p{Script=Cyrillic}|\p{Script=Greek}/u.test(name)) return false;
  const shared = sharedBeginning(name, said);
  return shared >= 3 && name.length - shared <= 3 && said.length - shared <= 3;
}

const PEOPLE = /(?:ian|an|ese|ish|ic|i|n)$/u;

const isPeopleOf = (people: string, place: string): boolean => {
  if (!PEOPLE.test(people) || people.length < 5) return false;
  const stems = ['ian', 'an', 'ese', 'ish', 'ic', 'i', 'n'].flatMap((end) =>
    people.endsWith(end) ? [people.slice(0, -end.length)] : [],
  );
  return stems.some(
    (stem) =>
      stem.length >= 3 && (place === stem || (/^[aeiouy]$/u.test(place.slice(stem.length)) && place.startsWith(stem))),
  );
};

/** How texts are held against what was said, and when. */
export function heldAgainst({ words, quantities }: Pick<Words, 'words' | 'quantities'>, moments: readonly number[]) {
  const dates = datesFrom(quantities, moments);
  const hasName = namesAmong(words);
  return {
    hasNames: ({ names }: Pick<Claims, 'names'>): boolean => names.every(hasName),
    hasNumbers: ({ quantities: { numbers } }: Claims): boolean =>
      numbers.every((number) => hasNumber(quantities.numbers, number)),
    hasDates: ({ quantities: claimed }: Claims): boolean =>
      claimed.dates.every(dates.has) && claimed.weekdays.every(dates.hasWeekday),
  };
}

/** Names that are said in another form begin alike, but for those of the table. Only words that do are compared. */
function namesAmong(words: ReadonlySet<string>): (name: string) => boolean {
  let alike: ReadonlyMap<string, readonly string[]> | null = null;
  return once((name) => {
    const forms = [name, `${name}s`, name.replace(/s$/u, ''), DEMONYMS.get(name) ?? name];
    if (forms.some((form) => words.has(form))) return true;
    alike ??= Map.groupBy(words, beginOf);
    return alike.get(beginOf(name))?.some((word) => isSameName(name, word)) === true;
  });
}

const NAME_BEGIN = 3;
const beginOf = (word: string): string => word.slice(0, NAME_BEGIN);

/** How many words of a text say something; two signs count as a word where there are no spaces. */
export function wordCount(text: string): number {
  const spaced = [...termSet(text)].filter((term) => !UNSPACED.test(term)).length;
  const signs = (text.match(RUNS) ?? []).join('').length;
  return spaced + signs / 2;
}

/** How many words a text has, also those that say nothing by themselves. */
export function spokenWords(text: string): number {
  const spaced = (text.match(TOKEN) ?? []).length;
  return spaced + (text.match(RUNS) ?? []).join('').length / 2;
}
