import { type Case, expectCase, playGuard, type Wish } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';

const OSLO = 'User lives in Oslo';
const TEA = 'User likes tea';
const BERGEN = 'User moved to Bergen';
const CAT = 'User owns a cat';

const both = { memories: [OSLO, TEA], facts: [BERGEN, CAT] };
const added = { ends: ['ADD', 'ADD'], live: [OSLO, TEA, BERGEN, CAT] };
const cat: Wish = ['f1', 'ADD', null, CAT];

describe('a wish that is right is carried out', () => {
  it.each<[string, Case]>([
    [
      'UPDATE makes a new version, ADD a new memory',
      {
        ...both,
        asked: [['f0', 'UPDATE', '0', 'User lives in Bergen'], cat],
        ends: ['UPDATE', 'ADD'],
        live: ['User lives in Bergen', TEA, CAT],
      },
    ],
    ['NONE confirms', { ...both, facts: [BERGEN], asked: [['f0', 'NONE', '0']], ends: ['NONE'], live: [OSLO, TEA] }],
    [
      'DELETE and ADD of one fact',
      {
        ...both,
        asked: [['f0', 'DELETE', '0'], ['f0', 'ADD', null, BERGEN], cat],
        ends: ['ADD', 'ADD'],
        live: [TEA, BERGEN, CAT],
      },
    ],
    [
      'DELETE with keep: false forgets memory and fact',
      {
        memories: [OSLO, TEA],
        facts: ['User wants it forgotten where they live'],
        asked: [['f0', 'DELETE', '0', null, 'forget']],
        ends: ['DROPPED'],
        live: [TEA],
      },
    ],
    [
      'one fact changes several memories',
      {
        ...both,
        facts: [BERGEN],
        asked: [
          ['f0', 'UPDATE', '0', BERGEN],
          ['f0', 'UPDATE', '1', 'User likes tea from Bergen'],
        ],
        ends: ['UPDATE'],
        live: [BERGEN, 'User likes tea from Bergen'],
      },
    ],
    [
      'two memories that would read the same become one',
      {
        memories: ['User likes cheese', 'User likes pizza'],
        facts: ['User likes cheese pizza'],
        asked: [
          ['f0', 'UPDATE', '0', 'User likes cheese pizza'],
          ['f0', 'UPDATE', '1', 'User likes cheese pizza'],
        ],
        ends: ['UPDATE'],
        live: ['User likes cheese pizza'],
      },
    ],
    [
      'a memory that shall read as another one does goes up in it',
      {
        ...both,
        facts: ['User likes tea, too'],
        asked: [['f0', 'UPDATE', '0', TEA]],
        ends: ['NONE'],
        live: [TEA],
      },
    ],
    [
      'ADD says what the fact says, whatever the model writes',
      {
        ...both,
        facts: [BERGEN],
        asked: [['f0', 'ADD', null, 'user likes TEA.']],
        ends: ['ADD'],
        live: [OSLO, TEA, BERGEN],
      },
    ],
    [
      'UPDATE works a detail of the fact into the memory',
      {
        memories: ['User likes cheese pizza'],
        facts: ['User likes chicken pizza'],
        asked: [['f0', 'UPDATE', '0', 'User likes cheese pizza and also chicken pizza']],
        ends: ['UPDATE'],
        live: ['User likes cheese pizza and also chicken pizza'],
      },
    ],
  ])('%s', (_name, given) => {
    expectCase(given);
  });
});

const forget = (what: string) => ({ text: `Forget ${what}`, minute: 100, category: 'forget' });

describe('a deletion never costs a fact', () => {
  const OTHER = 'User has a dog';
  it.each<[string, Case]>([
    [
      'DELETE alone is completed by ADD',
      {
        ...both,
        asked: [['f0', 'DELETE', '0'], cat],
        ends: ['ADD', 'ADD'],
        live: [TEA, BERGEN, CAT],
      },
    ],
    [
      'ADD and DELETE of what was just added',
      {
        ...both,
        asked: [['f0', 'ADD'], ['f0', 'DELETE', 'f0'], cat],
        ...added,
        did: ['refused: the fact has already changed this memory'],
      },
    ],
    [
      'ADD of what a memory says, and DELETE of that memory',
      {
        memories: [OSLO],
        facts: [BERGEN],
        asked: [
          ['f0', 'DELETE', '0'],
          ['f0', 'ADD', null, OSLO],
        ],
        ends: ['ADD'],
        live: [BERGEN],
      },
    ],
    [
      'UPDATE and DELETE of the same memory',
      {
        ...both,
        facts: [BERGEN],
        asked: [
          ['f0', 'UPDATE', '0', BERGEN],
          ['f0', 'DELETE', '0', null, 'forget'],
        ],
        ends: ['UPDATE'],
        live: [BERGEN, TEA],
        did: ['refused: the fact has already changed this memory'],
      },
    ],
    [
      'deletions over the limit are refused, their facts kept',
      {
        memories: [OSLO, TEA, OTHER],
        facts: [BERGEN, CAT, 'User forgets everything'],
        asked: [
          ['f0', 'DELETE', '0'],
          ['f1', 'DELETE', '1'],
          ['f2', 'DELETE', '2', null, 'forget'],
        ],
        deletesMax: 1,
        ends: ['ADD', 'ADD', 'ADD'],
        live: [BERGEN, TEA, CAT, OTHER, 'User forgets everything'],
        did: ['refused: more than 1 deletions', 'refused: more than 1 deletions'],
      },
    ],
    [
      'a wish to forget what nobody knows leaves nothing',
      {
        memories: [TEA],
        facts: ['User wants it forgotten that they smoke'],
        asked: [['f0', 'DELETE', null, null, 'forget']],
        ends: ['DROPPED'],
        live: [TEA],
        did: ['refused: it names no memory'],
      },
    ],
    [
      'a wish to forget, marked as one, is never remembered, whatever the model makes of it',
      {
        ...both,
        facts: [forget('my home'), forget('my tea'), forget('my cat')],
        asked: [
          ['f0', 'DELETE', '0'],
          ['f1', 'UPDATE', '1', 'Forget my tea'],
          ['f2', 'ADD'],
        ],
        ends: ['DROPPED', 'DROPPED', 'DROPPED'],
        live: [TEA],
        did: ['refused: a request to forget may only delete', 'refused: a request to forget may only delete'],
      },
    ],
    [
      'a wish to forget a memory that was not shown keeps the wish',
      {
        memories: [TEA],
        facts: ['Forget it'],
        asked: [['f0', 'DELETE', '7', null, 'forget']],
        ends: ['ADD'],
        live: [TEA, 'Forget it'],
        did: ['refused: neither this memory'],
      },
    ],
    [
      'a wish to forget what is deleted already is done',
      {
        memories: [
          {
            life: [
              [1, TEA],
              [50, null],
            ],
          },
        ],
        facts: ['Forget my tea'],
        asked: [['f0', 'DELETE', '0', null, 'forget']],
        ends: ['DROPPED'],
        live: [],
        did: ['refused: it is deleted already'],
      },
    ],
    [
      'a fact that deletes what an earlier one brought',
      {
        memories: [TEA],
        facts: ['User has a dog', 'User gave the dog away'],
        asked: [
          ['f0', 'ADD'],
          ['f1', 'DELETE', 'f0'],
        ],
        ends: ['ADD', 'ADD'],
        live: [TEA, 'User gave the dog away'],
      },
    ],
  ])('%s', (_name, given) => {
    expectCase(given);
  });
});

it('a deletion the user asked for that was refused says so, and what a wish is about is named with it', () => {
  const immutable = { life: [[1, OSLO]], immutable: true } as const;
  const endOf = (...ids: string[]) => {
    const asked = ids.map((id) => ['f0', 'DELETE', id] as const);
    const [end] = playGuard({ memories: [immutable, TEA], facts: [forget('it')], asked }).outcomes;
    return [end?.reason, end?.wish === true, end?.about?.length ?? 0];
  };
  expect(endOf('0')).toEqual(['the user asked to forget, but the deletion was refused', false, 1]);
  expect(endOf('1')).toEqual(['the user asked to forget', true, 1]);
  expect(endOf('0', '1')).toEqual(['the user asked to forget', true, 2]);
  expect(endOf('9')).toEqual(['the user asked to forget something that is not remembered', true, 0]);
});
