import { type Case, expectCase, playGuard, type Wish } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';

const OSLO = 'User lives in Oslo';
const TEA = 'User likes tea';
const BERGEN = 'User moved to Bergen';
const CAT = 'User owns a cat';

const both = { memories: [OSLO, TEA], facts: [BERGEN, CAT] };
const added = { ends: ['ADD', 'ADD'], live: [OSLO, TEA, BERGEN, CAT] };
const cat: Wish = ['f1', 'ADD', null, CAT];

describe('a wish that is wrong is repaired or refused, with a remark', () => {
  const wrong = (
    wish: Case['asked'] extends readonly (infer W)[] | null ? W : never,
    rest: Partial<Case> = {},
  ): Case => ({
    ...both,
    asked: [{ fact: 'f0', ...wish }, cat],
    ...added,
    ...rest,
  });
  it.each<[string, Case]>([
    [
      'UPDATE of an unknown id',
      wrong({ event: 'UPDATE', id: '12', text: BERGEN }, { did: ['repaired: added, because neither this memory'] }),
    ],
    ['DELETE of an unknown id', wrong({ event: 'DELETE', id: '12' }, { did: ['refused: neither this memory'] })],
    [
      'NONE of an unknown id',
      wrong({ event: 'NONE', id: '12' }, { did: ['repaired: added, because neither this memory'] }),
    ],
    ['NONE without an id', wrong({ event: 'NONE' }, { did: ['repaired: added'] })],
    [
      'NONE of an unknown id where a memory says it all',
      {
        memories: ['User lives in Oslo, Norway', TEA],
        facts: ['User lives in Norway'],
        asked: [['f0', 'NONE', '12']],
        ends: ['NONE'],
        live: ['User lives in Oslo, Norway', TEA],
        did: ['repaired: confirmed the memory that says it'],
      },
    ],
    [
      'NONE of a memory that has nothing to do with the fact',
      {
        memories: [OSLO, { life: [[1, TEA]], recalledBy: [] }],
        facts: [BERGEN],
        asked: [['f0', 'NONE', '1']],
        ends: ['ADD'],
        live: [OSLO, TEA, BERGEN],
        did: ['repaired: added, because this memory was not recalled'],
      },
    ],
    [
      'no event, with memory and text',
      wrong(
        { id: '0', text: BERGEN },
        { ends: ['UPDATE', 'ADD'], live: [TEA, BERGEN, CAT], did: ['repaired: treated as UPDATE'] },
      ),
    ],
    ['no event and no text', wrong({ id: '0' }, { did: ['repaired: treated as ADD'] })],
    ['nothing at all', wrong({}, { did: ['repaired: treated as ADD'] })],
    [
      'UPDATE without a text',
      wrong(
        { event: 'UPDATE', id: '0' },
        { ends: ['UPDATE', 'ADD'], live: [TEA, BERGEN, CAT], did: ['repaired: used the text'] },
      ),
    ],
    [
      'UPDATE with dots for a text',
      wrong(
        { event: 'UPDATE', id: '0', text: '…' },
        { ends: ['UPDATE', 'ADD'], live: [TEA, BERGEN, CAT], did: ['repaired: used the text'] },
      ),
    ],
    ...[
      ['User likes tea and coffee', 'User likes green tea'],
      ['User likes tea and coffee', 'User likes coffee most'],
      ['User lives in Oslo and works at Acme', 'User works at Zorkmid'],
      ['Nutzer mag Tee und Kaffee', 'Nutzer mag grünen Tee'],
      ['用户喜欢红茶和咖啡', '用户喜欢绿茶'],
    ].map(([memory = '', fact = '']): [string, Case] => [
      `UPDATE without a text of what says more: ${memory}`,
      {
        memories: [memory, OSLO],
        facts: [fact],
        asked: [['f0', 'UPDATE', '0']],
        ends: ['ADD'],
        live: [memory, OSLO, fact],
        did: ['repaired: added the fact as a separate memory, because there is no text'],
      },
    ]),
    [
      'UPDATE without a text of what says more, by a fact that has its place',
      {
        memories: [OSLO, 'User likes tea and coffee'],
        facts: ['User likes green tea'],
        asked: [
          ['f0', 'ADD'],
          ['f0', 'UPDATE', '1'],
        ],
        ends: ['ADD'],
        live: [OSLO, 'User likes tea and coffee', 'User likes green tea'],
        did: ['refused: there is no text'],
      },
    ],
    ...[
      ['User likes tea and coffee', 'User likes green tea and black coffee'],
      ['User is reading War and Peace', 'User finished War and Peace'],
    ].map(([memory = '', fact = '']): [string, Case] => [
      `UPDATE without a text by a fact that names all of it: ${memory}`,
      {
        memories: [memory, OSLO],
        facts: [fact],
        asked: [['f0', 'UPDATE', '0']],
        ends: ['UPDATE'],
        live: [OSLO, fact],
        did: ['repaired: used the text'],
      },
    ]),
    [
      'UPDATE of an unknown id to an invention',
      wrong({ event: 'UPDATE', id: '12', text: 'User works on Mars' }, { did: ['repaired: added, because neither'] }),
    ],
    [
      'UPDATE to a name that nobody said',
      wrong(
        { event: 'UPDATE', id: '0', text: 'User lives in Quito' },
        { did: ['repaired: added the fact as a separate memory, because its'] },
      ),
    ],
    [
      'UPDATE to a word that nobody said',
      wrong(
        { event: 'UPDATE', id: '0', text: 'User lives in Bergen with a parrot' },
        { did: ['repaired: added the fact as a separate memory, because its'] },
      ),
    ],
    [
      'UPDATE to a name that nobody said, of a memory that the fact says anyway',
      {
        memories: [OSLO, TEA],
        facts: ['User lives in Oslo with Ana'],
        asked: [['f0', 'UPDATE', '0', 'User lives in Oslo with Quentin']],
        ends: ['UPDATE'],
        live: [TEA, 'User lives in Oslo with Ana'],
        did: ['repaired: used the text of the fact, because its'],
      },
    ],
    ['ADD of far too much', wrong({ event: 'ADD', text: 'x'.repeat(5_000) })],
    [
      'a later fact for an id',
      wrong(
        { event: 'UPDATE', id: 'f1' },
        {
          did: ['repaired: added, because neither this memory nor an earlier fact was shown'],
        },
      ),
    ],
    [
      'its own id',
      wrong(
        { event: 'DELETE', id: 'f0', keep: false },
        {
          did: ['refused: the fact has already changed'],
          asked: [['f0', 'ADD'], ['f0', 'DELETE', 'f0', null, 'forget'], cat],
        },
      ),
    ],
    ['an id like __proto__', wrong({ event: 'UPDATE', id: '__proto__', text: BERGEN }, { did: ['repaired: added'] })],
    [
      'an id like constructor',
      wrong({ event: 'DELETE', id: 'constructor' }, { did: ['refused: neither this memory'] }),
    ],
    ["a memory's real id", wrong({ event: 'DELETE', id: 'mem_known_0' }, { did: ['refused: neither this memory'] })],
    [
      'a second ADD',
      {
        ...both,
        asked: [['f0', 'ADD'], ['f0', 'ADD', null, 'User is rich'], cat],
        ...added,
        did: ['refused: the fact is already settled'],
      },
    ],
    [
      'a NONE after an ADD',
      {
        ...both,
        asked: [['f0', 'ADD'], ['f0', 'NONE', '0'], cat],
        ...added,
        did: ['refused: the fact is already settled'],
      },
    ],
    [
      'the same memory twice for one fact: the first counts',
      {
        ...both,
        asked: [['f0', 'UPDATE', '0', BERGEN], ['f0', 'UPDATE', '0', 'User is lost'], cat],
        ends: ['UPDATE', 'ADD'],
        live: [TEA, BERGEN, CAT],
        did: ['refused: the fact has already changed this memory'],
      },
    ],
    [
      'a wish for a fact there is not',
      {
        ...both,
        asked: [['f9', 'DELETE', '0']],
        ...added,
        did: ['refused: not based on any fact', 'added, so that', 'added, so that'],
      },
    ],
    ['facts it forgot', { ...both, asked: [], ...added, did: ['added, so that', 'added, so that'] }],
  ])('%s', (_name, given) => {
    expectCase(given);
  });

  it('keeps the fact of a wish to forget that no user has', () => {
    expectCase({
      ...both,
      asked: [['f0', 'DELETE', '0', null, 'forget'], cat],
      ownWishes: false,
      ends: ['ADD', 'ADD'],
      live: [TEA, BERGEN, CAT],
      did: ['repaired: kept the fact, because the user did not ask to forget anything'],
    });
  });

  it('keeps remarks and reasons short, whatever was written', () => {
    const huge = 'x'.repeat(100_000);
    const { remarks, events } = playGuard({
      ...both,
      asked: [{ fact: 'f0', event: 'UPDATE', id: huge, reason: huge }, { fact: huge, event: 'DELETE', id: huge }, cat],
    });
    for (const { asked, did } of remarks) expect(asked.length + did.length).toBeLessThan(400);
    for (const { reason } of events) expect(reason.length).toBeLessThan(400);
  });

  it("never touches another owner's memory, though it was shown", () => {
    expectCase({
      memories: [TEA, { life: [[1, OSLO]], foreign: true }],
      facts: [BERGEN],
      asked: [
        ['f0', 'DELETE', '1'],
        ['f0', 'UPDATE', '1', BERGEN],
      ],
      ends: ['ADD'],
      live: [OSLO, TEA, BERGEN],
      did: ['repaired: added, because neither this memory', 'refused: neither this memory'],
    });
  });
});

const merges: readonly (readonly [memory: string, fact: string, merged: string])[] = [
  ['User has two kids, Ana and Bo', 'User had a third child, Cy', 'User has three kids, Ana, Bo and Cy'],
  ['User has kids named Ana and Bo', 'User had another child, Cy', 'User has three kids, Ana, Bo and Cy'],
  ['User has 2 cats', 'User adopted another cat', 'User has 3 cats'],
  ['User has a dog named Rex', "User's dog Rex turned 5", 'User has a 5-year-old dog named Rex'],
  ['User plays the guitar and the piano', 'User sold their guitar', 'User plays the piano and sold their guitar'],
  [
    'User is allergic to peanuts and shellfish',
    'User can eat shellfish again',
    'User is allergic to peanuts but no longer to shellfish',
  ],
  [
    'User works at Acme as an engineer',
    'User was promoted to lead',
    'User works at Acme as lead engineer after a promotion',
  ],
  [
    'User has a trip to Rome planned for May',
    "User's trip was postponed to June",
    'User has a trip to Rome planned for June (postponed from May)',
  ],
  ['User likes tea, coffee and cocoa', 'User quit coffee', 'User likes tea and cocoa, and has stopped drinking coffee'],
  ["User's wife Ann is a nurse", 'User and Ann divorced', "User's ex-wife Ann is a nurse"],
  ['User lives in Oslo', 'User moved to Bergen', 'User used to live in Oslo and relocated to Bergen'],
  ['用户喜欢茶和咖啡', '用户戒了咖啡', '用户喜欢茶,不再喝咖啡'],
];

describe('a memory and a fact in one text', () => {
  const merging = (text: string, [memory, fact]: readonly string[], rest: Omit<Case, 'memories' | 'facts' | 'asked'>) =>
    expectCase({ memories: [memory ?? ''], facts: [fact ?? ''], asked: [['f0', 'UPDATE', '0', text]], ...rest });

  it.each(merges)('%s + %s = %s', (memory, fact, merged) => {
    merging(merged, [memory, fact], { ends: ['UPDATE'], live: [merged], did: [] });
  });

  it.each([
    ['a name', 'User has three kids, Ana, Bo and Dora'],
    ['a count', 'User has nine kids, Ana, Bo and Cy'],
    ['a number', 'User has kids, Ana, Bo and Cy, and 40 cats'],
    ['a year', 'User has three kids, Ana, Bo and Cy, since 1997'],
  ])('keeps the memory, and the fact beside it, where %s was never said', (_what, text) => {
    const [[memory, fact] = ['', '']] = merges;
    merging(text, [memory, fact], {
      ends: ['ADD'],
      live: [memory, fact],
      did: ['repaired: added the fact as a separate memory'],
    });
  });

  it('keeps the memory, and the fact beside it, where the text ends in a loop', () => {
    const [memory, fact] = ['User plays the violin', 'User plays the cello'];
    const text = 'User plays the cello, not the violin, the cello, not the violin, the cello, not the…';
    merging(text, [memory, fact], {
      ends: ['ADD'],
      live: [memory, fact],
      did: ['repaired: added the fact as a separate memory'],
    });
  });
});
