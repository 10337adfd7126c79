import type { ChatModel, JsonObject } from '@slowwave/engine';
import { fakeChat, type Reply } from './fake-models.ts';
import { pick } from './worlds.ts';

/** Something that is said, the one fact it holds, and what that is about: a later fact of the same slot replaces it. */
interface ToldLine {
  readonly says: string;
  readonly fact: string;
  readonly slot: string;
  readonly language: string;
  /** What was known of the slot no longer holds. */
  readonly ends?: true;
}

/** What somebody tells, sitting by sitting: plain things in one of three languages, with names, dates and denials, and what changed. */
export interface ToldLife {
  readonly userId: string;
  readonly sittings: readonly (readonly ToldLine[])[];
}

const CITIES = ['Lisbon', 'Oslo', 'Turin', 'Graz', 'Lyon', 'Porto', 'Bergen', 'Utrecht'];
const FOODS = ['fish', 'pork', 'peanuts', 'cheese', 'mushrooms'];
const PETS = ['parrot', 'hamster', 'rabbit', 'tortoise'];
const GAMES = ['chess', 'tennis', 'poker', 'hockey', 'golf'];
const TUNES = ['violin', 'cello', 'trumpet', 'drums'];
const COURSES = ['pottery', 'sailing', 'welding', 'knitting'];

const at = <T>(all: readonly T[], i: number): T => all[i % all.length] as T;

const english = (i: number): ToldLife['sittings'] => {
  const line = (slot: string, says: string, fact: string): ToldLine => ({ slot, says, fact, language: 'en' });
  const [pet, food, course] = [at(PETS, i), at(FOODS, i), at(COURSES, i)];
  return [
    [
      line('home', `I live in ${at(CITIES, i)}.`, `User lives in ${at(CITIES, i)}`),
      line('anna', `My sister Anna plays ${at(GAMES, i)}.`, `User's sister Anna plays ${at(GAMES, i)}`),
      line('ben', `My brother Ben plays the ${at(TUNES, i)}.`, `User's brother Ben plays the ${at(TUNES, i)}`),
    ],
    [
      line('food', `I do not eat ${food}.`, `User does not eat ${food}`),
      line('pet', `I have a ${pet}.`, `User has a ${pet}`),
      line('course', `I start a ${course} course on May 3, 2026.`, `User starts a ${course} course on May 3, 2026`),
    ],
    [
      line('home', `I moved to ${at(CITIES, i + 3)}.`, `User lives in ${at(CITIES, i + 3)}`),
      { ...line('pet', `I no longer have a ${pet}.`, `User no longer has a ${pet}`), ends: true },
      line('anna', `My sister Anna plays ${at(GAMES, i + 2)} now.`, `User's sister Anna plays ${at(GAMES, i + 2)}`),
      line('drink', 'I never drink coffee.', 'User never drinks coffee'),
    ],
  ];
};

const german = (i: number): ToldLife['sittings'] => {
  const line = (slot: string, says: string, fact: string): ToldLine => ({ slot, says, fact, language: 'de' });
  const food = at(['Fisch', 'Fleisch', 'Brot', 'Obst'], i);
  return [
    [
      line('home', `Ich wohne in ${at(CITIES, i)}.`, `Nutzer wohnt in ${at(CITIES, i)}`),
      line('food', `Ich esse kein ${food}.`, `Nutzer isst kein ${food}`),
      line('anna', 'Meine Schwester Anna spielt Schach.', 'Die Schwester Anna des Nutzers spielt Schach'),
    ],
    [line('home', `Ich bin nach ${at(CITIES, i + 3)} gezogen.`, `Nutzer wohnt in ${at(CITIES, i + 3)}`)],
  ];
};

const chinese = (i: number): ToldLife['sittings'] => {
  const line = (slot: string, says: string, fact: string): ToldLine => ({ slot, says, fact, language: 'zh' });
  const cities = ['北京', '上海', '成都', '西安', '南京', '杭州'];
  return [
    [
      line('home', `我住在${at(cities, i)}。`, `用户住在${at(cities, i)}`),
      line('food', `我不吃${at(['牛肉', '海鲜', '辣椒'], i)}。`, `用户不吃${at(['牛肉', '海鲜', '辣椒'], i)}`),
    ],
    [line('home', `我搬到${at(cities, i + 3)}了。`, `用户住在${at(cities, i + 3)}`)],
  ];
};

/** Of five, three speak English, one German, one Chinese. */
export const toldLives = (count: number): readonly ToldLife[] =>
  Array.from({ length: count }, (_, i) => ({
    userId: `user ${i}`,
    sittings: [english, english, german, english, chinese][i % 5]?.(i) ?? [],
  }));

/** One fact as the model says it. */
type ToldFact = JsonObject & { text: string; quote: string | null };
type Wish = { fact: string; event: string; id: string | null; text: string | null };
type Shown = readonly { readonly id: string; readonly text: string }[];

/** How a model gets worse: what it would say is said otherwise. */
export interface Spoiled {
  facts?(facts: readonly ToldFact[]): readonly ToldFact[];
  wishes?(wishes: readonly Wish[], memories: Shown): readonly Wish[];
  /** Answers take so many times as many tokens. */
  readonly tokens?: number;
  /** Nothing that can be read, unless it is asked again. */
  readonly shape?: (answer: JsonObject) => Reply;
}

const NAMES = [
  ['Lisbon', 'Lissabon'],
  ['Turin', 'Torino'],
  ['Anna', 'Hannah'],
  ['Graz', 'Gradec'],
  ['Lyon', 'Lugdunum'],
  ['Oslo', 'Kristiania'],
  ['Porto', 'Oporto'],
  ['Ben', 'Benjamin'],
  ['Bergen', 'Bjørgvin'],
  ['Utrecht', 'Utreque'],
] as const;

const renamed = (text: string): string => NAMES.reduce((said, [name, other]) => said.replace(name, other), text);
const NEGATIONS: readonly (readonly [RegExp, string])[] = [
  [/does not eat/u, 'eats'],
  [/never drinks/u, 'drinks'],
  [/no longer has/u, 'has'],
  [/isst kein /u, 'isst '],
  [/不/u, ''],
];
const isEven = (_: unknown, i: number): boolean => i % 2 === 0;

/** Twelve ways in which another prompt or model makes memory worse or dearer. */
export const REGRESSIONS: Readonly<Record<string, Spoiled>> = {
  'drops negations': {
    facts: (facts) =>
      facts.map((fact) => ({
        ...fact,
        text: NEGATIONS.reduce((text, [form, instead]) => text.replace(form, instead), fact.text),
      })),
  },
  'translates names': { facts: (facts) => facts.map((fact) => ({ ...fact, text: renamed(fact.text) })) },
  'merges two people': {
    facts: (facts) => facts.map((fact) => ({ ...fact, text: fact.text.replace('brother Ben', 'sister Anna') })),
    wishes: (wishes, memories) =>
      wishes.map((wish) => {
        const other = memories.find(({ text }) => text.includes('Anna') || text.includes('Ben'));
        return wish.text?.includes('Anna') && other !== undefined ? { ...wish, event: 'UPDATE', id: other.id } : wish;
      }),
  },
  'invents dates': {
    facts: (facts) => facts.map((fact) => ({ ...fact, valid_from: '2019-08-17' })),
  },
  'doubles tokens': { tokens: 2 },
  'cuts quotes': {
    facts: (facts) => facts.map((fact) => ({ ...fact, quote: fact.quote?.slice(0, fact.quote.length / 2) ?? null })),
  },
  'ignores deletes': {
    wishes: (wishes) => wishes.map((wish) => (wish.event === 'DELETE' ? { ...wish, event: 'ADD', id: null } : wish)),
  },
  'answers in another shape': { shape: (answer) => `Here you are: ${JSON.stringify(answer).replaceAll('"', '~')}` },
  'loses a language': { facts: (facts) => facts.filter(({ language }) => language !== 'zh') },
  'updates the wrong one': {
    wishes: (wishes, memories) =>
      wishes.map((wish) => {
        const other = memories.find(({ id }) => id !== wish.id);
        return wish.event === 'UPDATE' && other !== undefined ? { ...wish, id: other.id } : wish;
      }),
  },
  'adds instead of updating': {
    wishes: (wishes) => wishes.map((wish) => (wish.event === 'UPDATE' ? { ...wish, event: 'ADD', id: null } : wish)),
  },
  'halves recall': { facts: (facts) => facts.filter(isEven) },
};

export interface ToldModel {
  readonly name?: string;
  readonly spoiled?: Spoiled;
  /** So many answers of a hundred are not as they should be, in one way or another. */
  readonly noisy?: number;
  readonly random?: () => number;
}

/** A model that knows these lives, and answers as it should unless it is spoiled. */
export function toldModel(lives: readonly ToldLife[], how: ToldModel = {}): ChatModel {
  const lines = lives.flatMap(({ sittings }) => sittings.flat());
  const bySaying = new Map(lines.map((line) => [line.says, line]));
  const byFact = new Map(lines.map((line) => [line.fact, line]));
  const { spoiled = {}, noisy = 0, random = () => 1 } = how;
  const isNoisy = (): boolean => random() * 100 < noisy;
  const extract = (input: JsonObject): Reply => {
    const messages = input.messages as unknown as readonly { id: string; content: string }[];
    const facts = messages.flatMap(({ id, content }): ToldFact[] => {
      const line = bySaying.get(content);
      if (line === undefined) return [];
      const { fact: text, says: quote, language } = line;
      return [{ text, quote, language, source_ids: [id], category: null, valid_from: null, about: 'user' }];
    });
    const said = spoiled.facts?.(facts) ?? facts;
    return { facts: [...(isNoisy() ? noise(said, random) : said)] };
  };
  const decide = (input: JsonObject): Reply => {
    const [facts, memories] = [input.facts as unknown as Shown, input.memories as unknown as Shown];
    const wishes = facts.map((fact) => wishOf(fact, memories, byFact));
    const said = spoiled.wishes?.(wishes, memories) ?? wishes;
    return { operations: [...(isNoisy() ? said.slice(1) : said)] };
  };
  const scripts = { extract_facts: extract, decide_operations: decide };
  const shaped = (script: (input: JsonObject) => Reply) => (input: JsonObject) =>
    isNoisy() && random() < 0.5 ? 'no JSON' : (spoiled.shape?.(script(input) as JsonObject) ?? script(input));
  const chat = fakeChat({
    extract_facts: shaped(extract),
    decide_operations: shaped(decide),
    repair_output: (input) =>
      scripts[input.call as keyof typeof scripts]?.(input.input as JsonObject) ?? { operations: [] },
  });
  return {
    name: how.name ?? 'scripted',
    ask: async (call, cancel) => {
      const answer = await chat.ask(call, cancel);
      const { promptTokens, completionTokens } = answer.usage;
      const times = spoiled.tokens ?? 1;
      return { ...answer, usage: { promptTokens: promptTokens * times, completionTokens: completionTokens * times } };
    },
  };
}

/** A fact is missing, has no quote, or is said twice. */
function noise(facts: readonly ToldFact[], random: () => number): readonly ToldFact[] {
  const [first, ...others] = facts;
  if (first === undefined) return facts;
  return pick([others, [{ ...first, quote: null }, ...others], [first, first, ...others]], random);
}

function wishOf({ id, text }: Shown[number], memories: Shown, byFact: ReadonlyMap<string, ToldLine>): Wish {
  const line = byFact.get(text);
  const known = memories.find((memory) => line !== undefined && byFact.get(memory.text)?.slot === line.slot);
  if (known === undefined) return { fact: id, event: 'ADD', id: null, text };
  if (known.text === text) return { fact: id, event: 'NONE', id: known.id, text };
  return { fact: id, event: line?.ends ? 'DELETE' : 'UPDATE', id: known.id, text };
}
