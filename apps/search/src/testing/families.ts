import { seeded } from '@slowwave/engine-testing';

/** A fact of a made-up world, as a memory says it and as the graph does: 'Ana > works_at > Acme'. */
interface WorldFact {
  readonly text: string;
  readonly relation: string;
}

/** A question that takes several relations, and the fact that answers it. */
export interface HopQuestion {
  readonly text: string;
  readonly answer: WorldFact;
}

interface Language {
  readonly kin: Readonly<Record<string, string>>;
  readonly facts: Readonly<Record<string, (source: string, destination: string) => string>>;
  readonly questions: Readonly<Record<Asked, (name: string, kin: string) => string>>;
  readonly names: readonly string[];
}

/** What questions ask for; "own" ones are about the named person, the others about somebody of their family. */
const ASKED = ['makes', 'city', 'home', 'ownMakes', 'ownCity'] as const;
type Asked = (typeof ASKED)[number];

const ENGLISH: Language = {
  kin: {
    sister_of: 'sister',
    brother_of: 'brother',
    mother_of: 'mother',
    father_of: 'father',
    friend_of: 'friend',
    teacher_of: 'teacher',
  },
  facts: {
    works_at: (who, where) => `${who} works at ${where}.`,
    makes: (company, product) => `${company} makes ${product}.`,
    located_in: (company, city) => `${company} is located in ${city}.`,
    lives_in: (who, city) => `${who} lives in ${city}.`,
  },
  questions: {
    makes: (name, kin) => `What does ${name}'s ${kin}'s employer make?`,
    city: (name, kin) => `In which city is the company that ${name}'s ${kin} works for?`,
    home: (name, kin) => `Where does the ${kin} of ${name} live?`,
    ownMakes: (name) => `What does ${name}'s employer produce?`,
    ownCity: (name) => `Where is the company located that ${name} works for?`,
  },
  names: ['ba', 'do', 'fi', 'gu', 'ke', 'la', 'mo', 'ni', 'pa', 'ro', 'su', 'te'],
};

const CHINESE: Language = {
  kin: {
    sister_of: '妹妹',
    brother_of: '哥哥',
    mother_of: '妈妈',
    father_of: '爸爸',
    friend_of: '朋友',
    teacher_of: '老师',
  },
  facts: {
    works_at: (who, where) => `${who}在${where}工作。`,
    makes: (company, product) => `${company}生产${product}。`,
    located_in: (company, city) => `${company}位于${city}。`,
    lives_in: (who, city) => `${who}住在${city}。`,
  },
  questions: {
    makes: (name, kin) => `${name}的${kin}的雇主生产什么？`,
    city: (name, kin) => `${name}的${kin}工作的公司位于哪个城市？`,
    home: (name, kin) => `${name}的${kin}住在哪里？`,
    ownMakes: (name) => `${name}的雇主生产什么？`,
    ownCity: (name) => `${name}工作的公司位于哪里？`,
  },
  names: ['白', '林', '宁', '安', '可', '乐', '梅', '青', '若', '思', '天', '云'],
};

const LANGUAGES = { english: ENGLISH, chinese: CHINESE } as const;

/** So many people, and where they work. */
const PEOPLE = 40;
const COMPANIES = 20;
const CITIES = 12;
/** How many of the family each has in the world. */
const KIN_EACH = 2;

/** Families, employers and products, and questions about them whose answers name nobody that the question names. */
export function families(language: keyof typeof LANGUAGES, seed: number) {
  const random = seeded(seed);
  const say = LANGUAGES[language];
  const below = (count: number): number => Math.floor(random() * count);
  const names = namesOf(say.names, below);
  const people = names.slice(0, PEOPLE);
  const companies = names.slice(PEOPLE, PEOPLE + COMPANIES);
  const cities = names.slice(PEOPLE + COMPANIES, PEOPLE + COMPANIES + CITIES);
  const products = names.slice(PEOPLE + COMPANIES + CITIES, PEOPLE + 2 * COMPANIES + CITIES);
  const one = (list: readonly string[]): string => list[below(list.length)] ?? '';
  const fact = (source: string, relationship: string, destination: string): WorldFact => ({
    text: say.facts[relationship]?.(source, destination) ?? kinText(say, { source, relationship, destination }),
    relation: `${source} > ${relationship} > ${destination}`,
  });
  const work = new Map(people.map((name) => [name, one(companies)]));
  const makes = new Map(companies.map((name, i) => [name, fact(name, 'makes', products[i] ?? '')]));
  const seats = new Map(companies.map((name) => [name, fact(name, 'located_in', one(cities))]));
  const homes = new Map(people.map((name) => [name, fact(name, 'lives_in', one(cities))]));
  const kin = people.flatMap((name) => kinOf(name, { people, say, below }));
  const answers = (asked: Asked, name: string): WorldFact | undefined => {
    if (asked === 'home') return homes.get(name);
    const company = work.get(name) ?? '';
    return asked === 'makes' || asked === 'ownMakes' ? makes.get(company) : seats.get(company);
  };
  const questions = kin.flatMap(({ source, relationship, destination }, i): HopQuestion[] => {
    const asked = ASKED[i % ASKED.length] ?? 'home';
    const about = asked.startsWith('own') ? destination : source;
    const answer = answers(asked, about);
    return answer === undefined
      ? []
      : [{ text: say.questions[asked](destination, say.kin[relationship] ?? ''), answer }];
  });
  const facts = [
    ...kin.map(({ source, relationship, destination }) => fact(source, relationship, destination)),
    ...people.map((name) => fact(name, 'works_at', work.get(name) ?? '')),
    ...[...makes.values(), ...seats.values(), ...homes.values()],
  ];
  return { facts, questions };
}

interface Kin {
  readonly source: string;
  readonly relationship: string;
  readonly destination: string;
}

/** Some of a person's family, each of another kind. */
function kinOf(
  name: string,
  { people, say, below }: { people: readonly string[]; say: Language; below: (count: number) => number },
): Kin[] {
  const kinds = Object.keys(say.kin);
  const first = below(kinds.length);
  const others = people.filter((other) => other !== name);
  return Array.from({ length: KIN_EACH }, (_, i) => ({
    source: others[below(others.length)] ?? '',
    relationship: kinds[(first + i) % kinds.length] ?? '',
    destination: name,
  }));
}

function kinText({ kin }: Language, { source, relationship, destination }: Kin): string {
  const word = kin[relationship] ?? relationship;
  return /[a-z]/.test(word) ? `${source} is ${destination}'s ${word}.` : `${source}是${destination}的${word}。`;
}

/** Names of three syllables, each once, none the beginning of another. */
function namesOf(syllables: readonly string[], below: (count: number) => number): string[] {
  const names = new Set<string>();
  while (names.size < PEOPLE + 2 * COMPANIES + CITIES) {
    const name = Array.from({ length: 3 }, () => syllables[below(syllables.length)]).join('');
    names.add(name.charAt(0).toUpperCase() + name.slice(1));
  }
  return [...names];
}
