import { DAY_MS, dayOf, isoOf, millisOf } from './dates.ts';

/** What the numbers and dates in a text come to, however they are written. */
export interface Quantities {
  /** Of digits, as they stand and without what groups them, and of number words. */
  readonly numbers: ReadonlySet<number>;
  /** 1 to 12. */
  readonly months: ReadonlySet<number>;
  /** Sunday is 0. */
  readonly weekdays: ReadonlySet<number>;
}

/** A date as far as a text names it. */
export interface NamedDate {
  readonly year: number | null;
  /** 1 to 12. */
  readonly month: number | null;
  readonly day: number | null;
}

/** The same of what is claimed: each number and date is to be found somewhere. */
interface Claimed {
  /** Each as a whole, and in the runs of digits that it is written in: 10,000 is 10000, and 12:30 is 12 and 30. */
  readonly numbers: readonly { readonly whole: number; readonly runs: readonly number[] }[];
  readonly dates: readonly NamedDate[];
  readonly weekdays: readonly number[];
}

/** Everything a text could be taken to say. */
export function quantitiesIn(text: string): Quantities {
  const unified = text.normalize('NFKC').toLowerCase();
  const words = unified.match(WORD) ?? [];
  const numbers = new Set([...inDigits(unified), ...spelt(words), ...(unified.match(HAN_NUMBER) ?? []).map(hanNumber)]);
  for (const number of impliedIn(unified, words, numbers)) numbers.add(number);
  const months = new Set(words.flatMap((word) => MONTH_OF.get(word) ?? []));
  for (const number of numbers) if (number >= 1 && number <= 12) months.add(number);
  return { numbers, months, weekdays: new Set(weekdaysIn(unified, words)) };
}

/** What goes without saying: the minutes of a quarter, the hours of an evening, the number of a decade, the day of Christmas. */
function impliedIn(unified: string, words: readonly string[], said: ReadonlySet<number>): readonly number[] {
  const implied = IDIOMS.flatMap(({ form, numbers }) => (form.test(unified) ? numbers : []));
  const hours = [...said].filter((number) => number >= 1 && number <= 12);
  const isParted = words.some((word) => QUARTERS.has(word));
  if (isParted) {
    implied.push(15, 30, 45);
    hours.push(...hours.map((hour) => hour - 1)); // a quarter to eight, halb acht
  }
  const after = LATE.test(unified) ? hours.filter((hour) => hour < 12).map((hour) => hour + 12) : [];
  return [...implied, ...(isParted ? hours : []), ...after];
}

const LATE =
  /(?<!\p{L})(?:evening|afternoon|night|tonight|abends?|nachmittags?|nachts?|soir|après-midi|tarde|noche|sera|pomeriggio|noite|вечера|дня)(?!\p{L})|晚上|下午|午後|夜/u;

/** Numbers by other words, and days by their names. */
const IDIOMS: readonly { readonly form: RegExp; readonly numbers: readonly number[] }[] = [
  { form: /(?<!\p{L})(?:half a dozen|halbes dutzend|media docena|demi-douzaine)(?!\p{L})/u, numbers: [6] },
  { form: /(?<!\p{L})(?:dozen|dutzend|docena|douzaine|dozzina|dúzia)(?!\p{L})/u, numbers: [12] },
  { form: /(?<!\p{L})(?:decade|jahrzehnt|década|décennie|decennio)(?!\p{L})/u, numbers: [10] },
  { form: /(?<!\p{L})(?:twins?|both|paar|zwillinge?|gemel[oa]s|jumeaux|jumelles)(?!\p{L})|双胞胎/u, numbers: [2] },
  { form: /(?<!\p{L})(?:triplets|drillinge|trillizos)(?!\p{L})|三胞胎/u, numbers: [3] },
  { form: /(?<!\p{L})fortnight(?!\p{L})/u, numbers: [2, 14] },
  { form: /(?<!\p{L})(?:centur(?:y|ies)|jahrhundert|siglo|siècle)(?!\p{L})/u, numbers: [100] },
  { form: /(?<!\p{L})valentine|valentinstag|san valentín|情人节/u, numbers: [2, 14] },
  { form: /(?<!\p{L})(?:christmas eve|xmas eve|heiligabend|nochebuena)(?!\p{L})|平安夜/u, numbers: [12, 24] },
  { form: /(?<!\p{L})(?:christmas|xmas|weihnachten|navidad|noël|natale|natal)(?!\p{L})|圣诞/u, numbers: [12, 25] },
  { form: /(?<!\p{L})(?:new year['’]?s eve|silvester|nochevieja)(?!\p{L})/u, numbers: [12, 31] },
  { form: /(?<!\p{L})(?:new year|neujahr|año nuevo|nouvel an)|元旦/u, numbers: [1] },
  { form: /(?<!\p{L})halloween(?!\p{L})|万圣节/u, numbers: [10, 31] },
  { form: /(?<!\p{L})(?:st\.?|saint) patrick/u, numbers: [3, 17] },
  { form: /(?<!\p{L})(?:fourth of july|independence day)(?!\p{L})/u, numbers: [4, 7] },
];

const inDigits = (unified: string): readonly number[] => [
  ...(unified.match(GROUPED) ?? []).map(readingOf).flatMap(({ whole, runs }) => [whole, ...runs]),
  ...[...unified.matchAll(SCALED)].map(([, digits = '', scale = '']) =>
    Math.round(Number(digits.replace(',', '.')) * (SCALES.get(scale) ?? 1)),
  ),
  ...[...unified.matchAll(CLOCK)].map(([, hour = '', half]) => (Number(hour) % 12) + (half === 'p' ? 12 : 0)),
  ...[...unified.matchAll(METRES)].map(([, metres = '', rest = '']) => Number(metres) * 100 + Number(rest)),
];

/** What a text says in so many words. */
export function claimedIn(text: string): Claimed {
  const dates: NamedDate[] = [];
  const take = (date: NamedDate): string => {
    dates.push(date);
    return ' ';
  };
  let rest = text.normalize('NFKC').toLowerCase();
  for (const { form, read } of DATES) {
    rest = rest.replace(form, (...found: unknown[]) => {
      const date = read(found.slice(0, 4).map((part) => (typeof part === 'string' ? part : '')));
      return date === null ? String(found[0]) : take(date);
    });
  }
  const words = rest.match(WORD) ?? [];
  const numbers = (rest.match(GROUPED) ?? []).map(readingOf);
  const spoken = spelt(words.filter(isNumberWord));
  return {
    numbers: [...numbers, ...spoken.map((number) => ({ whole: number, runs: [number] }))],
    dates,
    weekdays: weekdaysIn(rest, words),
  };
}

/** Days around a moment that go without saying: yesterday, last Friday, in a month. */
const NEAR_DAYS = 45;
const NEAR_MONTHS = 2;
const NEAR_WEEKDAYS = 2;
/** Ways in which so many units before or after a moment are counted, in days. */
const UNITS = [
  { days: 1, slack: 0 },
  { days: 7, slack: 7 },
  { days: 30.44, slack: 16 },
  { days: 365.25, slack: 366 },
] as const;
const COUNTED_MAX = 400;

/** Whether a date stands among what was said, or follows from when it was: moments of the speakers' own clocks. */
export function datesFrom({ numbers, months, weekdays }: Quantities, moments: readonly number[]) {
  const counts = [...numbers].filter((number) => number >= 1 && number <= COUNTED_MAX);
  const days = [...new Set(moments.map(dayOf))];
  const years = days.map((day) => monthOf(day).year);
  const follows = ({ year, month, day }: NamedDate, moment: number): boolean => {
    const here = monthOf(moment);
    const of = year ?? here.year;
    if (month === null) return false;
    if (day === null) {
      const away = Math.abs((of - here.year) * 12 + month - here.month);
      return [away, 12 - away].some((one) => Math.abs(one) <= NEAR_MONTHS || counts.includes(one));
    }
    return (year === null ? [of - 1, of, of + 1] : [of]).some((one) => {
      const at = millisOf(`${String(one).padStart(4, '0')}-${month}-${day}`);
      const away = at === null ? Number.POSITIVE_INFINITY : Math.abs(dayOf(at) - moment);
      const isCounted = (count: number): boolean =>
        UNITS.some((unit) => Math.abs(away - count * unit.days) <= unit.slack);
      return away <= NEAR_DAYS || counts.some(isCounted);
    });
  };
  const hasYear = (year: number): boolean =>
    numbers.has(year) ||
    numbers.has(year % 100) ||
    years.some((one) =>
      [year - 1, year, year + 1].some((near) => one === near || counts.includes(Math.abs(near - one))),
    );
  return {
    has: (date: NamedDate): boolean => {
      if (days.some((moment) => follows(date, moment))) return true;
      const { year, month, day } = date;
      const isDay = (month === null || months.has(month)) && (day === null || numbers.has(day));
      return isDay && (year === null || hasYear(year));
    },
    hasWeekday: (weekday: number): boolean =>
      weekdays.has(weekday) ||
      days.some((moment) =>
        [...nearest, ...counts.flatMap((count) => [count, -count])].some(
          (away) => (((moment + away + EPOCH_WEEKDAY) % 7) + 7) % 7 === weekday,
        ),
      ),
  };
}

const nearest = Array.from({ length: 2 * NEAR_WEEKDAYS + 1 }, (_, i) => i - NEAR_WEEKDAYS);
/** 1970-01-01 was a Thursday. */
const EPOCH_WEEKDAY = 4;

function monthOf(day: number): { readonly year: number; readonly month: number } {
  const date = isoOf(day * DAY_MS);
  return { year: Number(date.slice(0, 4)), month: Number(date.slice(5, 7)) };
}

const WORD = /[\p{L}\p{M}\p{N}]+/gu;
/**
 * Digits with what groups them and parts them: 1,000 1.5 12:30 2026-03-02. A run is read from its beginning alone, and no further
 * than any number goes: tried again from each of its digits, a long one would take the square of its length.
 */
const GROUPED = /(?<!\d)\d{1,40}(?:[.,:/'’-]\d{1,40}){0,15}/gu;
const SCALED =
  /(?<!\d[.,]?)(\d{1,15}(?:[.,]\d{1,15})?)\s?(k|m|thousand|million|billion|tausend|millionen|mil|millones|mille|millions?|万|千|億|亿)(?!\p{L})/gu;
const SCALES: ReadonlyMap<string, number> = new Map([
  ...['k', 'thousand', 'tausend', 'mil', 'mille', '千'].map((word) => [word, 1e3] as const),
  ...['m', 'million', 'millions', 'millionen', 'millones'].map((word) => [word, 1e6] as const),
  ...([
    ['billion', 1e9],
    ['万', 1e4],
    ['亿', 1e8],
    ['億', 1e8],
  ] as const),
]);
/** 1m80 */
const METRES = /(?<!\d)(\d)\s?m\s?(\d{2})(?!\d)/gu;
const CLOCK = /(?<!\d)(\d{1,2})(?::\d{2})?\s?([ap])\.?m(?!\p{L})/gu;

/** All digits without what groups them, and each run of them. */
function readingOf(written: string): Claimed['numbers'][number] {
  const runs = written.split(/\D+/u).map(Number);
  return { whole: runs.length === 1 ? (runs[0] ?? 0) : Number(written.replace(/\D/gu, '')), runs };
}

/** Whether a number was said: as a whole, or run by run. */
export const hasNumber = (said: ReadonlySet<number>, { whole, runs }: Claimed['numbers'][number]): boolean =>
  said.has(whole) || runs.every((run) => run === 0 || said.has(run));

const SPELT: Readonly<Record<number, string>> = {
  1: 'first einmal erste primero premier',
  2: 'two second twice pair couple zwei zweite zweiter zweites zweiten zweimal dos segundo segunda deux deuxième due secondo dois duas два две двое',
  3: 'three third thrice drei dritte dritter drittes dritten tres tercero tercera trois troisième tre terzo três три трое',
  4: 'four fourth vier vierte cuatro cuarto quatre quatrième quattro quatro четыре',
  5: 'five fifth fünf fünfte cinco quinto cinq cinquième cinque пять',
  6: 'six sixth sechs sechste seis sexto sei шесть',
  7: 'seven seventh sieben siebte siete sept sette sete семь',
  8: 'eight eighth acht achte ocho octavo huit otto oito восемь',
  9: 'nine ninth neun neunte nueve neuf nove девять',
  10: 'ten tenth zehn diez dix dieci dez десять',
  11: 'eleven eleventh elf once onze undici одиннадцать',
  12: 'twelve twelfth dozen zwölf doce douze dodici doze двенадцать',
  13: 'thirteen dreizehn trece treize tredici treze',
  14: 'fourteen vierzehn catorce quatorze quattordici',
  15: 'fifteen fünfzehn quince quinze quindici',
  16: 'sixteen sechzehn dieciséis seize sedici dezesseis',
  17: 'seventeen siebzehn diecisiete diciassette dezessete',
  18: 'eighteen achtzehn dieciocho diciotto dezoito',
  19: 'nineteen neunzehn diecinueve diciannove dezenove',
  20: 'twenty zwanzig veinte vingt venti vinte двадцать',
  30: 'thirty dreißig treinta trente trenta trinta тридцать',
  40: 'forty vierzig cuarenta quarante quaranta quarenta сорок',
  50: 'fifty fünfzig cincuenta cinquante cinquanta cinquenta пятьдесят',
  60: 'sixty sechzig sesenta soixante sessanta sessenta',
  70: 'seventy siebzig setenta settanta',
  80: 'eighty achtzig ochenta ottanta oitenta',
  90: 'ninety neunzig noventa novanta',
  100: 'hundred hundert cien ciento cent cento',
  1000: 'thousand tausend mil mille',
};

const tableOf = (listed: Readonly<Record<number, string>>): ReadonlyMap<string, number> =>
  new Map(
    Object.entries(listed).flatMap(([number, words]) =>
      words.split(' ').map((word) => [word, Number(number)] as const),
    ),
  );

const VALUE_OF = tableOf(SPELT);
/** Of a claim: words that mean something else as often, in this or another language. */
const DOUBTFUL: ReadonlySet<string> = new Set(
  'first second third once pair couple due elf sei six tre cent mil mille premier primero segundo segunda secondo erste quarter cuarto quinto octavo sexto sept'.split(
    ' ',
  ),
);

/** Whether a word is surely a number, and more than one. */
export const isNumberWord = (word: string): boolean =>
  !DOUBTFUL.has(word) && (VALUE_OF.get(word) ?? joined(word) ?? 0) > 1;

/** The values of number words, of tens with the ones that follow, twenty-five, and of so many hundreds. */
function spelt(words: readonly string[]): readonly number[] {
  const found: number[] = [];
  let tens = 0;
  let last = 0; // of the word before
  for (const word of words) {
    const value = VALUE_OF.get(word) ?? joined(word) ?? 0;
    if (value > 0) found.push(value);
    if (value > 0 && value < 10 && tens > 0) found.push(tens + value);
    if (value >= 100 && last > 1 && last < value) found.push(last * value);
    if (!LINKS.has(word)) tens = tensOf(value);
    last = value;
  }
  return found;
}

const tensOf = (value: number): number => (value >= 20 && value < 100 ? value : 0);
const LINKS: ReadonlySet<string> = new Set(['and', 'et', 'y', 'e']);

const ONES = 'ein zwei drei vier fünf sechs sieben acht neun'.split(' ');
const JOINED = new RegExp(
  `^(${ONES.join('|')})und(zwanzig|dreißig|vierzig|fünfzig|sechzig|siebzig|achtzig|neunzig)$`,
  'u',
);

/** fünfundzwanzig, veinticinco */
function joined(word: string): number | undefined {
  const [, ones = '', tens = ''] = JOINED.exec(word) ?? [];
  if (ones !== '') return (VALUE_OF.get(tens) ?? 0) + ONES.indexOf(ones) + 1;
  const [, rest = ''] = /^(?:veinti)(\p{L}+)$/u.exec(word) ?? [];
  const value = VALUE_OF.get(rest);
  return value === undefined ? undefined : 20 + value;
}

const QUARTERS: ReadonlySet<string> = new Set(
  'half quarter halb viertel dreiviertel media cuarto demie quart'.split(' '),
);

const HAN_NUMBER = /[〇零一二两三四五六七八九十百千万]{1,40}/gu;
const HAN_DIGITS = '〇一二三四五六七八九';

/** 三十五 is 35, 二〇二六 is 2026. */
function hanNumber(run: string): number {
  const digits = [...run.replaceAll('零', '〇').replaceAll('两', '二')];
  if (!/[十百千万]/u.test(run)) return Number(digits.map((digit) => HAN_DIGITS.indexOf(digit)).join(''));
  let [whole, part, last] = [0, 0, 0];
  for (const digit of digits) {
    const unit = { 十: 10, 百: 100, 千: 1_000, 万: 10_000 }[digit];
    if (unit === undefined) last = Math.max(0, HAN_DIGITS.indexOf(digit));
    else if (unit === 10_000) [whole, part, last] = [(whole + part + last) * unit, 0, 0];
    else [part, last] = [part + Math.max(1, last) * unit, 0];
  }
  return whole + part + last;
}

const MONTH_OF = tableOf({
  1: 'january jan januar enero janvier gennaio janeiro января январь',
  2: 'february feb februar febrero février febbraio fevereiro февраля февраль',
  3: 'march märz marzo mars março марта март',
  4: 'april apr abril avril aprile апреля апрель',
  5: 'may mai mayo maggio maio мая май',
  6: 'june jun juni junio juin giugno junho июня июнь',
  7: 'july jul juli julio juillet luglio julho июля июль',
  8: 'august aug agosto août августа август',
  9: 'september sep sept septiembre septembre settembre setembro сентября сентябрь',
  10: 'october oct oktober octubre octobre ottobre outubro октября октябрь',
  11: 'november nov noviembre novembre novembro ноября ноябрь',
  12: 'december dec dezember diciembre décembre dicembre dezembro декабря декабрь',
});
const WEEKDAY_OF = tableOf({
  0: 'sunday sundays sonntag sonntags domingo domingos dimanche domenica воскресенье',
  1: 'monday mondays montag montags lunes lundi lunedì понедельник',
  2: 'tuesday tuesdays dienstag dienstags martes mardi martedì вторник',
  3: 'wednesday wednesdays mittwoch mittwochs miércoles mercredi mercoledì среда',
  4: 'thursday thursdays donnerstag donnerstags jueves jeudi giovedì четверг',
  5: 'friday fridays freitag freitags viernes vendredi venerdì пятница',
  6: 'saturday saturdays samstag samstags sábado sábados samedi sabato суббота',
});

/** Whether a word names a month or a day of the week. */
export const isCalendarWord = (word: string): boolean => MONTH_OF.has(word) || WEEKDAY_OF.has(word);

/** Words of numbers and dates, which are held against what was said by what they come to. */
export const QUANTITY_WORDS = [...VALUE_OF.keys(), ...MONTH_OF.keys(), ...WEEKDAY_OF.keys()].filter(
  (word) => !DOUBTFUL.has(word),
);

const HAN_WEEKDAY = /(?:星期|周|礼拜)([一二三四五六日天])|([日月火水木金土])曜/gu;
const HAN_WEEKDAYS: readonly string[] = ['日天日', '一月', '二火', '三水', '四木', '五金', '六土'];

function weekdaysIn(unified: string, words: readonly string[]): readonly number[] {
  const named = words.flatMap((word) => WEEKDAY_OF.get(word) ?? []);
  const han = [...unified.matchAll(HAN_WEEKDAY)].map(([, chinese = '', japanese = '']) =>
    HAN_WEEKDAYS.findIndex((signs) => signs.includes(chinese || japanese)),
  );
  return [...named, ...han].filter((weekday) => weekday >= 0);
}

const numberOr = (text: string | undefined): number | null => (text === undefined || text === '' ? null : Number(text));

const isMonth = (month: number | null): boolean => month === null || (month >= 1 && month <= 12);
const isDayOfMonth = (day: number | null): boolean => day === null || (day >= 1 && day <= 31);
const dateOf = (year: number | null, month: number | null, day: number | null): NamedDate | null =>
  isMonth(month) && isDayOfMonth(day) && (year ?? month) !== null ? { year, month, day } : null;

/** Those of which another word is made as often are months only beside a number. */
const MONTH = [...MONTH_OF.keys()].toSorted((a, b) => b.length - a.length).join('|');
const DAY = '(\\d{1,2})(?:st|nd|rd|th|er|º|\\.)?';
const YEAR = '((?:1[89]|20|21)\\d{2})';

/** Ways to write a date, the longest first. */
const DATES: readonly { readonly form: RegExp; readonly read: (found: readonly string[]) => NamedDate | null }[] = [
  {
    form: /(?<!\d)(\d{4})-(\d{1,2})(?:-(\d{1,2})(?:t[\d:.+z-]*)?)?(?!\d)/gu,
    read: ([, year, month, day]) => dateOf(numberOr(year), numberOr(month), numberOr(day)),
  },
  {
    form: /(?<!\d)(\d{4})\s?年(?:\s?(\d{1,2})\s?月)?(?:\s?(\d{1,2})\s?[日号])?/gu,
    read: ([, year, month, day]) => dateOf(numberOr(year), numberOr(month), numberOr(day)),
  },
  {
    form: /(?<!\d)(\d{1,2})\s?月(?:\s?(\d{1,2})\s?[日号])?/gu,
    read: ([, month, day]) => dateOf(null, numberOr(month), numberOr(day)),
  },
  {
    form: new RegExp(`(?<![\\p{L}\\p{N}])(${MONTH})\\.? ${DAY}(?:,? ${YEAR})?(?![\\p{L}\\p{N}])`, 'gu'),
    read: ([, month = '', day, year]) => dateOf(numberOr(year), MONTH_OF.get(month) ?? null, numberOr(day)),
  },
  {
    form: new RegExp(
      `(?<![\\p{L}\\p{N}])${DAY} (?:of |de )?(${MONTH})\\.?(?:(?: de|,)? ${YEAR})?(?![\\p{L}\\p{N}])`,
      'gu',
    ),
    read: ([, day, month = '', year]) => dateOf(numberOr(year), MONTH_OF.get(month) ?? null, numberOr(day)),
  },
  {
    form: new RegExp(`(?<![\\p{L}\\p{N}])(${MONTH})(?: de|,)? ${YEAR}(?!\\d)`, 'gu'),
    read: ([, month = '', year]) => dateOf(numberOr(year), MONTH_OF.get(month) ?? null, null),
  },
  {
    form: new RegExp(`(?<![\\d.,])${YEAR}(?![\\d]|[.,]\\d)`, 'gu'),
    read: ([, year]) => dateOf(numberOr(year), null, null),
  },
];
