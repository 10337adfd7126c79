/** Kinds of things that facts are about, or that stand in them as a value. */
export type Kind =
  | 'person'
  | 'stranger'
  | 'company'
  | 'book'
  | 'team'
  | 'city'
  | 'country'
  | 'language'
  | 'sport'
  | 'trade';

/** Something that can be said of a subject, and changes. {s} is the subject, {v} the value. */
export interface Relation {
  readonly name: string;
  readonly about: Kind;
  readonly takes: Kind;
  /** The usual form first; the others say the same in other words. */
  readonly says: readonly [string, ...string[]];
  readonly asks: string;
}

export const RELATIONS: readonly Relation[] = [
  {
    name: 'home',
    about: 'person',
    takes: 'city',
    says: ['{s} lives in the city of {v}', '{s} has moved to {v}', 'the home of {s} is in {v}'],
    asks: 'Where does {s} live?',
  },
  {
    name: 'employer',
    about: 'person',
    takes: 'company',
    says: ['{s} is employed by {v}', '{s} took a job at {v}', '{v} has hired {s}'],
    asks: 'Who employs {s}?',
  },
  {
    name: 'trade',
    about: 'person',
    takes: 'trade',
    says: ['{s} works as a {v}', 'the occupation of {s} is {v}', '{s} earns a living as {v}'],
    asks: 'What does {s} work as?',
  },
  {
    name: 'spouse',
    about: 'person',
    takes: 'stranger',
    says: ['{s} is married to {v}', '{v} is the spouse of {s}', '{s} wed {v}'],
    asks: 'Who is {s} married to?',
  },
  {
    name: 'sport',
    about: 'person',
    takes: 'sport',
    says: ['{s} plays the sport of {v}', '{s} has taken up {v}', 'the favourite game of {s} is {v}'],
    asks: 'Which sport does {s} play?',
  },
  {
    name: 'language',
    about: 'person',
    takes: 'language',
    says: ['{s} speaks the language of {v}', '{s} talks in {v}', 'the mother tongue of {s} is {v}'],
    asks: 'Which language does {s} speak?',
  },
  {
    name: 'citizenship',
    about: 'person',
    takes: 'country',
    says: ['{s} is a citizen of {v}', '{s} holds a passport of {v}', 'the nationality of {s} is that of {v}'],
    asks: 'Which country is {s} a citizen of?',
  },
  {
    name: 'chief',
    about: 'company',
    takes: 'person',
    says: ['The chief executive of {s} is {v}', '{v} leads {s}', '{s} is run by {v}'],
    asks: 'Who is the chief executive of {s}?',
  },
  {
    name: 'headquarters',
    about: 'company',
    takes: 'city',
    says: ['The headquarters of {s} are in the city of {v}', '{s} has its main office in {v}', '{s} is based in {v}'],
    asks: 'Which city are the headquarters of {s} in?',
  },
  {
    name: 'founder',
    about: 'company',
    takes: 'person',
    says: ['{s} was founded by {v}', '{v} set up {s}', 'the founder of {s} is {v}'],
    asks: 'Who founded {s}?',
  },
  {
    name: 'author',
    about: 'book',
    takes: 'person',
    says: ['The author of {s} is {v}', '{s} was written by {v}', '{v} wrote {s}'],
    asks: 'Who is the author of {s}?',
  },
  {
    name: 'original',
    about: 'book',
    takes: 'language',
    says: ['The original language of {s} is {v}', '{s} first came out in {v}', '{s} was composed in {v}'],
    asks: 'What is the original language of {s}?',
  },
  {
    name: 'coach',
    about: 'team',
    takes: 'person',
    says: ['The head coach of {s} is {v}', '{v} trains {s}', '{s} is coached by {v}'],
    asks: 'Who is the head coach of {s}?',
  },
  {
    name: 'discipline',
    about: 'team',
    takes: 'sport',
    says: ['{s} is associated with the sport of {v}', '{s} competes in {v}', 'what {s} play is {v}'],
    asks: 'Which sport is {s} associated with?',
  },
];

/** Every pair of a beginning and an end. */
const pairs = (begins: readonly string[], ends: readonly string[], between = ' '): readonly string[] =>
  begins.flatMap((begin) => ends.map((end) => `${begin}${between}${end}`));

const words = (text: string): readonly string[] => text.split(' ');

const GIVEN = words('Ada Bram Carla Dmitri Elena Femi Greta Hugo Ines Jonas Kaoru Leila Marek Nadia Oskar Priya');
const STRANGERS = words('Anders Bruna Chidi Daria Emil Fleur Goran Hana Ivo Jolanta Kasper Lucia');
const FAMILY = words(
  'Adeyemi Brandt Castellan Dubois Eriksen Fontaine Grigorev Haddad Ivanova Jansen Kowalski Lindqvist',
);
const BRANDS = words('Aurora Borealis Cobalt Delta Ember Falcon Granite Horizon Indigo Juniper Kestrel Lumen');
const TRADES_OF_FIRMS = words('Airways Bank Foods Motors Pharma Software Steel Textiles');
const MOODS = words('Broken Crimson Distant Endless Forgotten Golden Hidden Last Quiet Silver');
const THINGS = words('Bridge Garden Harbour Lantern Mirror Orchard River Season Tower Winter');
const PLACES = words(
  'Aalborg Bergen Cadiz Dresden Evora Florence Ghent Haifa Izmir Jaipur Kyoto Lima Malaga Nantes Odense Porto',
);
const MASCOTS = words('Badgers Comets Eagles Foxes Herons Lynx Pirates Wolves');

const NAMES: Readonly<Record<Kind, readonly string[]>> = {
  person: pairs(GIVEN, FAMILY),
  // Nothing is said of them: "Ann is married to Bob" and "Bob is married to Ann" would answer each other's questions.
  stranger: pairs(STRANGERS, FAMILY),
  company: pairs(BRANDS, TRADES_OF_FIRMS),
  book: pairs(MOODS, THINGS, ' ').map((title) => `The ${title}`),
  team: pairs(PLACES, MASCOTS),
  city: [...PLACES, ...words('Quito Riga Seville Tampere Utrecht Varna Wuhan Xalapa York Zadar')],
  country: words(
    'Albania Brazil Canada Denmark Egypt Finland Ghana Hungary India Japan Kenya Latvia Mexico Norway Oman Peru',
  ),
  language: words('Arabic Bengali Catalan Danish Estonian Finnish Greek Hindi Italian Japanese Korean Latvian Maltese'),
  sport: words(
    'archery badminton cricket fencing handball hockey judo karate polo rowing rugby sailing squash tennis volleyball',
  ),
  trade: words(
    'architect baker carpenter dentist editor farmer gardener hairdresser jeweller librarian mechanic nurse',
  ),
};

export const subjectsOf = (kind: Kind): readonly string[] => NAMES[kind];
export const valuesOf = (kind: Kind): readonly string[] => NAMES[kind];
