/**
 * The Porter stemmer (M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980), with the two departures
 * its author recommends: -bli becomes -ble and -logi becomes -log. For lower-case words of a–z only.
 */
export function porterStem(word: string): string {
  if (word.length < 3) return word;
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
const LIST = `
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
export const IRREGULAR: ReadonlyMap<string, string> = new Map(
  LIST.split(';').flatMap((entry) => {
    const [base = '', forms = ''] = entry.split(':').map((part) => part.trim());
    return forms.split(/\s+/).map((form) => [form, base] as const);
  }),
);
