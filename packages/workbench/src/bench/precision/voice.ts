import type { Random } from '../../chaos/random.ts';

/** Whom a fact is about: the user, or somebody of theirs. */
export interface Person {
  /** null: the user. */
  readonly relation: string | null;
  /** The relation in another word. */
  readonly alias: string;
  readonly name: string;
}

export const SELF: Person = { relation: null, alias: '', name: '' };

const WOMEN = ['Helga', 'Beatriz', 'Sunniva', 'Farida', 'Odile', 'Marta'];
const MEN = ['Gunnar', 'Rui', 'Anselm', 'Tariq', 'Benoit', 'Kofi'];

type Relation = readonly [relation: string, alias: string, names: readonly string[]];

/** Who may be spoken of, who asks, and what users are called. */
export interface Speech {
  readonly relations: readonly Relation[];
  readonly askers: readonly Asker[];
  readonly names: readonly string[];
}

const RELATIONS: readonly Relation[] = [
  ['mother', 'mum', WOMEN],
  ['father', 'dad', MEN],
  ['brother', 'sibling', MEN],
  ['daughter', 'girl', WOMEN],
  ['best friend', 'buddy', [...WOMEN, ...MEN]],
  ['grandmother', 'gran', WOMEN],
  ['uncle', 'older relative', MEN],
];

/** Some of them, each with a name of their own. */
export function drawnPeople({ relations }: Speech, random: Random, count: number): readonly Person[] {
  const people: Person[] = [];
  for (const [relation, alias, names] of random.shuffled(relations).slice(0, count)) {
    const free = names.filter((name) => people.every((person) => person.name !== name));
    people.push({ relation, alias, name: random.pick(free) });
  }
  return people;
}

/** How a life's memories name the user, and how its questions do. */
export interface Voice {
  /** Before what is said: "User", a name, or nothing. */
  readonly subject: string;
  readonly asker: Asker;
}

type Asker = Readonly<
  Record<'does' | 'is' | 'has' | 'did' | 'was' | 'who' | 'whose' | 'him', string> & Partial<Record<'name', string>>
>;

const asked = (who: string, whose: string, him: string): Asker => ({
  does: `does ${who}`,
  is: `is ${who}`,
  has: `has ${who}`,
  did: `did ${who}`,
  was: `was ${who}`,
  who,
  whose,
  him,
});

const I: Asker = { ...asked('I', 'my', 'me'), does: 'do I', is: 'am I', has: 'have I' };
const ASKERS: readonly Asker[] = [asked('she', 'her', 'her'), asked('he', 'his', 'him'), I];
const NAMES = ['Ann', 'Jonas', 'Mara', 'Theo'];

export const FIRST_SPEECH: Speech = { relations: RELATIONS, askers: ASKERS, names: NAMES };

const THEY: Asker = {
  ...asked('they', 'their', 'them'),
  ...{ does: 'do they', is: 'are they', has: 'have they', was: 'were they' },
};
const SECOND_WOMEN = ['Nina', 'Aroha', 'Brigid', 'Paloma', 'Yasmin', 'Gerda'];
const SECOND_MEN = ['Olek', 'Matteo', 'Hamza', 'Rune', 'Dougal', 'Kenji'];

export const SECOND_SPEECH: Speech = {
  relations: [
    ['wife', 'better half', SECOND_WOMEN],
    ['sister', 'sibling', SECOND_WOMEN],
    ['son', 'boy', SECOND_MEN],
    ['colleague', 'coworker', [...SECOND_WOMEN, ...SECOND_MEN]],
    ['neighbour', 'next-door acquaintance', [...SECOND_WOMEN, ...SECOND_MEN]],
    ['aunt', 'female relative', SECOND_WOMEN],
    ['grandson', 'grandchild', SECOND_MEN],
    ['stepfather', "mum's new partner", SECOND_MEN],
  ],
  askers: [asked('she', 'her', 'her'), I, THEY],
  names: ['Selma', 'Viktor', 'Imogen', 'Rafael'],
};

export function voiceOf({ askers, names }: Speech, random: Random): Voice {
  const asker = random.pick(askers);
  return { asker, subject: random.pick(['User', 'User', random.pick(names), '']) };
}

interface Wording {
  readonly template: string;
  readonly slots: Readonly<Record<string, string>>;
  readonly person: Person;
}

/** A memory's text: "User lives in Bergen", "Ann's brother Tom lives in Bergen", "Lives in Bergen". */
export function saidText({ template, slots, person }: Wording, { subject }: Voice, plain: boolean): string {
  const rest = filled(template, slots);
  if (plain) return rest;
  const owner = subject === '' ? '' : `${subject}'s `;
  const whole = person.relation === null ? subject : `${owner}${person.relation} ${person.name}`;
  const joined = rest.startsWith("'s ") && whole === '' ? rest.slice("'s ".length) : `${whole}${gap(rest)}${rest}`;
  return capital(joined.trim());
}

const gap = (rest: string): string => (rest.startsWith("'") ? '' : ' ');

/** A question's text; in other words for whoever is asked about, too, if wanted. */
export function askedText({ template, slots, person }: Wording, { asker }: Voice, words: 'same' | 'other'): string {
  return capital(filled(template, { ...slots, ...askerFor(person, asker, words) }));
}

function askerFor({ relation, alias, name }: Person, asker: Asker, words: 'same' | 'other'): Asker {
  if (relation === null) return asker;
  const who = words === 'same' ? `${asker.whose} ${relation} ${name}` : `${asker.whose} ${alias}`;
  return asked(who, `${who}'s`, who);
}

const filled = (template: string, values: Readonly<Record<string, string>>): string =>
  template.replace(/\{([^}]+)\}/gu, (place, name: string) => {
    const value = values[name];
    if (value === undefined) throw new Error(`nothing to put into ${place} of "${template}"`);
    return value;
  });

const capital = (text: string): string => text.replace(/^\p{Ll}/u, (first) => first.toUpperCase());
