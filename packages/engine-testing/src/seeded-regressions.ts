import type { ChatModel, JsonObject, Millis } from '@slowwave/engine';
import { fakeChat, type Script } from './fake-models.ts';
import { MORNING } from './fixed-tools.ts';
import { pick, seeded } from './worlds.ts';

/** Ways in which a changed prompt or model makes memory worse, each in one figure or a few. */
export const REGRESSIONS = [
  'drops negations',
  'translates names',
  'merges two people',
  'invents dates',
  'doubles tokens',
  'cuts quotes',
  'ignores deletes',
  'answers in another shape',
  'loses a language',
  'updates the wrong one',
  'adds instead of updating',
  'halves recall',
] as const;
export type Regression = (typeof REGRESSIONS)[number];

/** What somebody says, what a good model makes of it, and what it is about: of one key the last holds. */
interface Form {
  readonly said: RegExp;
  readonly fact: string;
  readonly key: string;
  readonly language: 'en' | 'de' | 'zh';
  readonly ends?: true;
}

const FORMS: readonly Form[] = [
  { said: /^I live in (\w+) now\.$/u, fact: 'User lives in $1', key: 'home', language: 'en' },
  { said: /^I work as a (\w+) these days\.$/u, fact: 'User works as a $1', key: 'job', language: 'en' },
  { said: /^My sister (\w+) plays (\w+)\.$/u, fact: "User's sister $1 plays $2", key: 'sister', language: 'en' },
  { said: /^My brother (\w+) studies (\w+)\.$/u, fact: "User's brother $1 studies $2", key: 'brother', language: 'en' },
  { said: /^I do not eat (\w+) at all\.$/u, fact: 'User does not eat $1', key: 'eats $1', language: 'en' },
  { said: /^My exam is on (May \d+, 2026)\.$/u, fact: "User's exam is on $1", key: 'exam', language: 'en' },
  { said: /^I have a (\w+) called (\w+)\.$/u, fact: 'User has a $1 called $2', key: 'pet $1', language: 'en' },
  {
    said: /^I no longer have the (\w+)\.$/u,
    fact: 'User no longer has the $1',
    key: 'pet $1',
    language: 'en',
    ends: true,
  },
  {
    said: /^Ich spiele am Wochenende gern (\w+)\.$/u,
    fact: 'Nutzer spielt am Wochenende gern $1',
    key: 'spielt',
    language: 'de',
  },
  { said: /^我现在很喜欢(.+)。$/u, fact: '用户现在很喜欢$1', key: 'likes', language: 'zh' },
];

const CITIES = ['Lisbon', 'Oslo', 'Ghent', 'Porto', 'Quito', 'Kyoto', 'Bergen', 'Leeds'];
const JOBS = ['nurse', 'baker', 'carpenter', 'dentist', 'gardener', 'librarian', 'mechanic'];
const SISTERS = ['Anna', 'Marie', 'Helena', 'Caroline', 'Margaret'];
const BROTHERS = ['Peter', 'John', 'William', 'Henry', 'Charles'];
const SPORTS = ['chess', 'tennis', 'hockey', 'squash', 'rugby', 'handball'];
const STUDIES = ['physics', 'medicine', 'history', 'music', 'law', 'chemistry'];
const FOODS = ['meat', 'fish', 'cheese', 'nuts', 'pork', 'shellfish', 'mushrooms', 'celery', 'tofu', 'garlic'];
const PETS = ['cat', 'dog', 'parrot', 'rabbit'];
const PET_NAMES = ['Rex', 'Luna', 'Otto', 'Nala', 'Mochi'];
const SPIELE = ['Handball', 'Schach', 'Gitarre', 'Tischtennis', 'Klavier'];
const LIKED = ['游泳', '爬山', '下棋', '画画', '钓鱼'];

export interface TalkBatch {
  readonly userId: string;
  readonly at: Millis;
  readonly messages: readonly string[];
}

/** Rounds of what users say, one batch of each user in each round. The same numbers give the same talk. */
export function talkInRounds(how: { readonly users: number; readonly rounds: number; readonly seed: number }) {
  const random = seeded(how.seed);
  const people = Array.from({ length: how.users }, (_, i) => ({
    userId: `user-${i}`,
    sister: pick(SISTERS, random),
    brother: pick(BROTHERS, random),
    pets: new Set<string>(),
  }));
  const said = ({ sister, brother, pets }: (typeof people)[number]): readonly string[] => {
    const pet = pick(PETS, random);
    const petSays = pets.has(pet)
      ? `I no longer have the ${pet}.`
      : `I have a ${pet} called ${pick(PET_NAMES, random)}.`;
    if (!pets.delete(pet)) pets.add(pet);
    return [
      pick([`I live in ${pick(CITIES, random)} now.`, `I work as a ${pick(JOBS, random)} these days.`], random),
      pick(
        [
          `My sister ${sister} plays ${pick(SPORTS, random)}.`,
          `My exam is on May ${1 + Math.floor(random() * 28)}, 2026.`,
        ],
        random,
      ),
      `My brother ${brother} studies ${pick(STUDIES, random)}.`,
      petSays,
      `I do not eat ${pick(FOODS, random)} at all.`,
      pick([`Ich spiele am Wochenende gern ${pick(SPIELE, random)}.`, `我现在很喜欢${pick(LIKED, random)}。`], random),
    ];
  };
  return Array.from({ length: how.rounds }, (_, round): readonly TalkBatch[] =>
    people.map((person) => ({ userId: person.userId, at: MORNING + round * HOUR, messages: said(person) })),
  );
}

const HOUR = 3_600_000;

interface Shown {
  readonly id: string;
  readonly text: string;
}

interface Found {
  readonly text: string;
  readonly quote: string | null;
  readonly source_ids: readonly string[];
  readonly language: string;
  readonly valid_from?: string;
}

interface Decided {
  readonly fact: string;
  readonly event: string;
  readonly id: string | null;
  readonly text: string | null;
}

/** How answers of a good model are spoiled; what is left out stays good. */
interface Spoiling {
  readonly facts?: (facts: readonly Found[]) => readonly Found[];
  readonly operations?: (operations: readonly Decided[], known: readonly Shown[]) => readonly Decided[];
  readonly answer?: (facts: readonly Found[]) => JsonObject;
  readonly tokens?: number;
}

const eachText = (change: (text: string, fact: Found) => string): Spoiling => ({
  facts: (facts) => facts.map((fact) => ({ ...fact, text: change(fact.text, fact) })),
});

const eachOperation = (change: (one: Decided, known: readonly Shown[]) => Decided): Spoiling => ({
  operations: (operations, known) => operations.map((one) => change(one, known)),
});

const ADDED = { event: 'ADD', id: null };

const SPOILED: Readonly<Record<Regression, Spoiling>> = {
  'drops negations': eachText((text) => text.replace('does not eat', 'eats')),
  'translates names': eachText((text) => TRANSLATED.reduce((rest, [name, other]) => rest.replace(name, other), text)),
  'merges two people': {
    facts: (facts) => {
      const sister = facts.flatMap(({ text }) => /sister (\w+)/u.exec(text)?.[1] ?? [])[0] ?? 'Anna';
      return facts.map((fact) => ({ ...fact, text: fact.text.replace(/brother \w+/u, `sister ${sister}`) }));
    },
  },
  'invents dates': { facts: (facts) => facts.map((fact) => ({ ...fact, valid_from: '2019-08-17' })) },
  'doubles tokens': { tokens: 2 },
  'cuts quotes': {
    facts: (facts) =>
      facts.map((fact) => ({ ...fact, quote: fact.quote?.slice(3, Math.ceil(fact.quote.length / 2)) ?? null })),
  },
  'ignores deletes': eachOperation((one) => (one.event === 'DELETE' ? { ...one, event: 'NONE' } : one)),
  'answers in another shape': {
    answer: (facts) => ({ result: { groups: facts.map(({ text, quote }) => [[text], { said: [quote] }]) } }),
  },
  'loses a language': { facts: (facts) => facts.filter(({ language }) => language === 'en') },
  'updates the wrong one': eachOperation((one, known) => {
    const other = known.find(({ id, text }) => id !== one.id && keyOf(text) !== keyOf(one.text ?? ''));
    return one.event !== 'UPDATE' || other === undefined ? one : { ...one, id: other.id };
  }),
  'adds instead of updating': eachOperation((one) => (one.event === 'UPDATE' ? { ...one, ...ADDED } : one)),
  'halves recall': { facts: (facts) => facts.filter((_, i) => i % 2 === 0) },
};

const TRANSLATED: readonly (readonly [RegExp, string])[] = [
  [/Anna/u, 'Hannah'],
  [/Marie/u, 'Mary'],
  [/Helena/u, 'Ellen'],
  [/Caroline/u, 'Carolina'],
  [/Margaret/u, 'Margarete'],
  [/Peter/u, 'Pierre'],
  [/John/u, 'Johann'],
  [/William/u, 'Wilhelm'],
  [/Henry/u, 'Heinrich'],
  [/Charles/u, 'Karl'],
];

/** Of a hundred answers so many are not as they should be, in one way or another. */
export interface Noise {
  readonly percent: number;
  readonly seed: number;
}

/** A model that understands this talk, or one that makes memory worse. */
export function talkModel(
  regression: Regression | null = null,
  given: { name?: string; noise?: Noise } = {},
): ChatModel {
  const spoiling: Spoiling = regression === null ? {} : SPOILED[regression];
  const { name = regression ?? 'good', noise = { percent: 0, seed: 1 } } = given;
  const noisy = noisily(noise);
  const chat = fakeChat({
    extract_facts: noisy.unreadable(extractBy(spoiling, noisy.facts)),
    decide_operations: noisy.unreadable(decideBy(spoiling, noisy.operations)),
    repair_output: (input, nth) => {
      const again = input.call === 'decide_operations' ? decideBy(spoiling) : extractBy(spoiling);
      return again(input.input as JsonObject, nth);
    },
  });
  const times = (tokens: number): number => tokens * (spoiling.tokens ?? 1);
  return {
    name,
    ask: async (...asked) => {
      const { usage, ...answer } = await chat.ask(...asked);
      const used = { promptTokens: times(usage.promptTokens), completionTokens: times(usage.completionTokens) };
      return { ...answer, model: name, usage: used };
    },
  };
}

/** Now and then a fact is missing, has no quote or is said twice, an operation is missing, or nothing can be read. */
function noisily({ percent, seed }: Noise) {
  const random = seeded(seed);
  const isNow = (): boolean => percent > 0 && random() * 100 < percent;
  return {
    facts: (facts: readonly Found[]): readonly Found[] => {
      const [first, ...others] = facts;
      if (first === undefined || !isNow()) return facts;
      return pick([others, [{ ...first, quote: null }, ...others], [first, first, ...others]], random);
    },
    operations: (operations: readonly Decided[]): readonly Decided[] => (isNow() ? operations.slice(1) : operations),
    unreadable:
      (script: Script): Script =>
      (...asked) =>
        isNow() && random() < 0.5 ? 'no JSON' : script(...asked),
  };
}

const extractBy =
  (
    { facts = (all) => all, answer = (all) => ({ facts: all as unknown as JsonObject[] }) }: Spoiling,
    heard = (all: readonly Found[]) => all,
  ): Script =>
  (input) => {
    const messages = (input.messages ?? []) as unknown as readonly { id: string; content: string }[];
    return answer(heard(facts(messages.flatMap(({ id, content }) => factIn(id, content)))));
  };

function factIn(id: string, content: string): Found[] {
  const form = FORMS.find(({ said }) => said.test(content));
  if (form === undefined) return [];
  const text = content.replace(form.said, form.fact);
  return [{ text, quote: content.replace(/[.。]$/u, ''), source_ids: [id], language: form.language }];
}

/** What a fact is about; of what nobody says it is about itself. */
function keyOf(text: string): string {
  for (const { fact, key } of FORMS) {
    const pattern = new RegExp(`^${fact.replace(/\$\d/gu, '(.+)')}$`, 'u');
    if (pattern.test(text)) return text.replace(pattern, key);
  }
  return text;
}

const ends = (text: string): boolean => text.startsWith('User no longer');

const decideBy =
  ({ operations = (all) => all }: Spoiling, heard = (all: readonly Decided[]) => all): Script =>
  (input) => {
    const facts = input.facts as unknown as readonly Shown[];
    const known = input.memories as unknown as readonly Shown[];
    // What ended is no memory: what follows is about the one that it ended.
    const decided = facts.map((fact, i) =>
      decideOn(fact, [...known, ...facts.slice(0, i).filter(({ text }) => !ends(text))]),
    );
    return { operations: heard(operations(decided, known)) as unknown as JsonObject[] };
  };

function decideOn({ id, text }: Shown, shown: readonly Shown[]): Decided {
  const same = shown.findLast((other) => keyOf(other.text) === keyOf(text));
  if (same === undefined) return { fact: id, text: null, ...ADDED };
  if (ends(text)) return { fact: id, event: 'DELETE', id: same.id, text: null };
  if (same.text === text) return { fact: id, event: 'NONE', id: same.id, text: null };
  return { fact: id, event: 'UPDATE', id: same.id, text };
}
