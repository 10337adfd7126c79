import { describe, expect, it } from 'vitest';
import { listOf, objectOf, textOf } from '../input.ts';
import { ask, factsOf, NOW, textsOf } from '../testing/ask.ts';

const TOLD: readonly (readonly [string, readonly string[]])[] = [
  [
    "Hi, I'm Alex. I'm a vegetarian and I'm allergic to nuts.",
    ["User's name is Alex", 'User is a vegetarian', 'User is allergic to nuts'],
  ],
  [
    "I'm Ana, I moved from Lisbon to Oslo last week and I'm allergic to peanuts",
    ["User's name is Ana", 'User lives in Oslo (moved from Lisbon)', 'User is allergic to peanuts'],
  ],
  [
    "I'm Ana, 34, from Lisbon, living in Oslo, a nurse",
    [
      "User's name is Ana",
      'User is 34 years old',
      'User is from Lisbon',
      'User lives in Oslo',
      'User works as a nurse',
    ],
  ],
  ['Actually I live in Bergen now.', ['User lives in Bergen']],
  ['No, I live in Bergen.', ['User lives in Bergen']],
  ['i live in oslo and work at a hospital', ['User lives in oslo', 'User works at a hospital']],
  ['I live in Oslo, do you know good restaurants?', ['User lives in Oslo']],
  ["Can you recommend a restaurant? I'm lactose intolerant.", ['User is lactose intolerant']],
  [
    'I used to live in San Francisco, but now I live in Austin.',
    ['User used to live in San Francisco', 'User lives in Austin'],
  ],
  ["I don't live in Oslo, I live in Bergen", ['User lives in Bergen']],
  ['My wife and I moved to Bergen two years ago', ['User lives in Bergen']],
  ["I'm 34 years old", ['User is 34 years old']],
  ['My birthday is on 3 May', ["User's birthday is 3 May"]],
  ['I was born in Porto.', ['User was born in Porto']],
  ['I work as a nurse at Acme', ['User works at Acme as a nurse']],
  ["I'm a software engineer at Google.", ['User works at Google as a software engineer']],
  ['I left Oslo and moved to Trondheim', ['User left Oslo', 'User lives in Trondheim']],
  ['My flight to Tokyo is on March 5', ["User's flight to Tokyo is on 5 March 2026"]],
  ['I no longer work at Acme', ['User no longer works at Acme']],
  ['I quit my job at Acme', ['User no longer works at Acme']],
  ['I started a new job at Equinor last Monday', ['User works at Equinor']],
  ['I study computer science at NTNU', ['User studies computer science at NTNU']],
  ["I don't like coffee any more", ['User no longer likes coffee']],
  [
    "I'm not a big fan of thriller movies but I love sci-fi movies.",
    ['User is not a big fan of thriller movies', 'User loves sci-fi movies'],
  ],
  ['I hate mushrooms and olives', ['User hates mushrooms', 'User hates olives']],
  ['I love mac and cheese', ['User loves mac and cheese']],
  ['I prefer tea over coffee', ['User prefers tea over coffee']],
  ['Please remember that I prefer window seats', ['User prefers window seats']],
  ['My favourite colour is blue.', ["User's favourite colour is blue"]],
  ['Pizza is my favorite food!', ["User's favorite food is Pizza"]],
  ["I'm no longer vegetarian", ['User is no longer vegetarian']],
  ['I stopped eating meat', ['User no longer eats meat']],
  ["I'm not allergic to peanuts", ['User is not allergic to peanuts']],
  ['I have a dog named Rex and two cats', ['User has a dog named Rex', 'User has two cats']],
  ["My dog's name is Rex", ["User's dog is named Rex"]],
  ['My sister lives in Rome and works as a doctor', ["User's sister lives in Rome", "User's sister works as a doctor"]],
  ["I don't have any kids", ['User does not have kids']],
  ['I got married last year', ['User is married']],
  [
    'I speak Portuguese, English and Norwegian',
    ['User speaks Portuguese', 'User speaks English', 'User speaks Norwegian'],
  ],
  ["I'm planning to watch a movie tonight. Any recommendations?", ['User plans to watch a movie on 10 June 2025']],
  ["I'd like to visit Japan next year", ['User would like to visit Japan in 2026']],
  ['I went to a support group yesterday and it was great', ['User went to a support group on 9 June 2025']],
  ['I run every morning', ['User runs every morning']],
  ['I live with my parents', ['User lives with their parents']],
  ['Forget that I live in Oslo', ['User wants it forgotten: User lives in Oslo']],
  ['Can you please forget about my birthday?', ["User wants it forgotten: User's birthday"]],
];

const NOTHING = [
  'hello',
  'Good morning!',
  'Thanks a lot!',
  'Nice to meet you!',
  "I'm fine, thanks",
  "I'm tired today",
  "I'm sorry, I don't understand",
  'Where do I live?',
  'Do you know what I like?',
  'What is my name?',
  'Do I live in Oslo, Bergen, or Rome?',
  'If I lived in Oslo I would buy a boat.',
  'What if I moved to Spain?',
  "Imagine I'm a doctor.",
  'I wish I had a dog',
  'Maybe I should move to Spain',
  'My friend says I should live in Rome.',
  'She said "I live in Oslo"',
  'Tom lives in Paris',
  'You live in Oslo',
  'He told me "I hate you"',
  'Write me a poem about Lisbon',
  'I have a question',
  'I want to know the weather',
  'I need help with my homework',
  "I'm getting an error when I run the script",
  'I love it!',
  'I love you',
  'I think so',
  'The weather is nice',
  'Forget it',
  'My password is hunter2',
  '> I live in Oslo',
  '```\nI live in Oslo\n```',
  '',
  '???',
];

describe('reading English', () => {
  it.each(TOLD)('%s', async (said, facts) => {
    expect(await textsOf(said)).toEqual(facts);
  });

  it.each(NOTHING)('finds nothing in: %s', async (said) => {
    expect(await textsOf(said)).toEqual([]);
  });

  it.each([
    ['I moved to Oslo last week', '2025-06-03'],
    ['I moved to Oslo two years ago', '2023-06-10'],
    ['Yesterday I bought a bike', '2025-06-09'],
    ['In 2019 I moved to Oslo', '2019-01-01'],
    ['On 3 May I moved to Oslo', '2025-05-03'],
    ['I moved to Oslo on March 5th, 2021', '2021-03-05'],
    ["I'm going to visit Japan next month", '2025-07-01'],
    ["I've lived in Oslo for 5 years", '2020-06-10'],
    ['I work at Acme since 2015', '2015-01-01'],
    ['I bought a car last Friday', '2025-06-06'],
    ['I was in Paris last summer', '2024-06-01'],
    ['I live in Oslo', null],
  ])('resolves the date of: %s', async (said, day) => {
    expect((await factsOf(said)).map((fact) => fact.valid_from)).toEqual([day]);
  });

  it('says where a fact is from', async () => {
    expect(await factsOf('Hello there. I’m allergic to peanuts!')).toEqual([
      {
        text: 'User is allergic to peanuts',
        source_ids: ['m0'],
        quote: 'I’m allergic to peanuts',
        category: 'health',
        language: 'en',
        valid_from: null,
        about: 'user',
      },
    ]);
  });

  it('takes nothing from assistants', async () => {
    expect(await factsOf('I live in Oslo', { role: 'assistant' })).toEqual([]);
  });

  it('leaves what is said in a role until the role ends', async () => {
    const said = (content: string, i: number) => ({ id: `m${i}`, role: 'user', content, timestamp: NOW, name: null });
    const messages = [
      'I like figs.',
      "Let's role play!",
      'I live in a castle.',
      'Enough of the role play.',
      'I live in Oslo.',
    ];
    const { facts } = await ask('extract_facts', { messages: messages.map(said) });
    expect(listOf(facts).map((fact) => textOf(objectOf(fact).text))).toEqual(['User likes figs', 'User lives in Oslo']);
    const context = { recent: [{ role: 'user', content: 'Pretend we are knights.' }] };
    expect(await ask('extract_facts', { context, messages: [said('I live in a castle.', 0)] })).toEqual({ facts: [] });
  });

  it('reads a long unbroken message in time', async () => {
    expect(await textsOf(`I live in Oslo. ${'a, and I '.repeat(100_000)}`)).toEqual(['User lives in Oslo']);
  });
});
