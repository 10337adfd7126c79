/** How a thing is said in a chat, and the fact a model makes of it. `$` stands for the detail. */
interface Saying {
  readonly said: readonly string[];
  readonly fact: string;
  readonly details: readonly string[];
}

/** Paraphrased the way models do: other words, other forms of them, less of what stands around. */
const SAYINGS: readonly Saying[] = [
  {
    said: ['So last weekend we finally adopted a puppy, she is called $', 'Our new dog $ kept me up all night again'],
    fact: 'User has a dog named $',
    details: ['Rex', 'Bella', 'Luna', 'Otto', 'Nala'],
  },
  {
    said: ["I've been living in $ since the spring, still unpacking boxes", 'We just moved to $, the flat is tiny'],
    fact: 'User lives in $',
    details: ['Oslo', 'Porto', 'Kyoto', 'Leipzig', 'Quito'],
  },
  {
    said: ["I can't have anything with $ in it, my throat swells up", 'Careful, $ makes me really sick'],
    fact: 'User is allergic to $',
    details: ['peanuts', 'shellfish', 'sesame', 'kiwi', 'lupin'],
  },
  {
    said: ['Started at $ two months ago, the team is lovely', 'My job at $ is getting stressful'],
    fact: 'User works at $',
    details: ['Siemens', 'Acme', 'the city library', 'Spotify', 'a bakery'],
  },
  {
    said: ['My sister $ is visiting us over the holidays', 'Have I told you about my sister $? She paints'],
    fact: "User's sister is called $",
    details: ['Anna', 'Miriam', 'Joana', 'Freya', 'Soraya'],
  },
  {
    said: ['On Tuesdays I play $ with a couple of old friends', 'I am getting better at $, slowly'],
    fact: 'User plays $ as a hobby',
    details: ['badminton', 'chess', 'the cello', 'handball', 'go'],
  },
  {
    said: ["We're flying to $ in September, can't wait", 'Booked the tickets: $ for two weeks!'],
    fact: 'User plans a trip to $',
    details: ['Iceland', 'Vietnam', 'Oslo', 'Naples', 'Georgia'],
  },
  {
    said: ['honestly nothing beats $ on a rainy day', 'I could eat $ every single evening'],
    fact: 'User loves $',
    details: ['ramen', 'lasagna', 'shellfish soup', 'pancakes', 'goulash'],
  },
  {
    said: ['我最近搬到$了，房子很小', '我现在住在$，天气不错'],
    fact: '用户住在$',
    details: ['上海', '成都', '杭州', '北京', '广州'],
  },
  {
    said: ['周末我常常去$，很放松', '我特别喜欢$，从小就喜欢'],
    fact: '用户的爱好是$',
    details: ['游泳', '爬山', '钓鱼', '下棋', '画画'],
  },
];

/** Says nothing to remember, in words that facts have as well. */
const FILLER = [
  'What is the weather like in Oslo today?',
  'Can you recommend a dog food brand?',
  'Which cities have a good library?',
  'How long does a flight usually take, in general?',
  'haha okay, that makes sense',
  'Tell me a joke about work',
  'What should I cook, soup or lasagna?',
  '今天天气怎么样？',
  '你觉得上海和北京哪个好？',
  'and what about my sister, any idea for a present?',
];

export interface SaidFact {
  readonly fact: string;
  /** The place in the window of the message it came from. */
  readonly at: number;
}

/** A conversation of user messages, and facts with where they were said. The same seed gives the same. */
export function saidFacts(seed: number): { readonly messages: readonly string[]; readonly facts: readonly SaidFact[] } {
  const random = randomFrom(seed);
  const pick = <T>(items: readonly T[]): T => items[Math.floor(random() * items.length)] as T;
  const messages: string[] = [];
  const facts: SaidFact[] = [];
  const used = new Set<string>();
  while (facts.length < 12) {
    if (random() < 0.4) messages.push(pick(FILLER));
    const saying = pick(SAYINGS);
    const fact = saying.fact.replace('$', pick(saying.details));
    if (used.has(fact)) continue;
    used.add(fact);
    const [before = '', after = ''] = saying.fact.split('$');
    const detail = fact.slice(before.length, fact.length - after.length);
    facts.push({ fact, at: messages.length });
    messages.push(pick(saying.said).replace('$', detail));
  }
  return { messages, facts };
}

/** A linear congruential generator: good enough to mix, the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = (seed * 2_654_435_761 + 1) >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}
