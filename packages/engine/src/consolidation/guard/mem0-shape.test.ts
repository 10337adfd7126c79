import { type Case, expectCase } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { RawOperation } from '../../models/parse/listed.ts';
import type { Candidate, Fact } from '../../plan.ts';
import { atOnce } from '../../ports/tools.ts';
import { attribute } from '../judge.ts';

const attributed = (...given: Parameters<typeof attribute>) => atOnce(attribute(...given));

const OSLO = 'User lives in Oslo';
const TEA = 'User likes tea';
const BERGEN = 'User moved to Bergen';
const CAT = 'User owns a cat';
const HOME = 'User lives in Bergen';

describe('an entry that names no fact', () => {
  it.each<[string, Partial<RawOperation>[], (string | null)[]]>([
    ['takes the fact with its words', [{ event: 'UPDATE', id: '0', text: BERGEN }], ['f0']],
    ['takes the fact with its words also behind others', [{ event: 'ADD', text: CAT }], ['f1']],
    [
      'further up does not take the fact another one is sure of',
      [
        { event: 'UPDATE', id: '0', text: 'User moved to Bergen with a cat' },
        { event: 'ADD', text: BERGEN },
      ],
      ['f1', 'f0'],
    ],
    ['takes the fact most like it', [{ event: 'UPDATE', id: '0', text: 'User lives in Bergen' }], ['f0']],
    [
      'takes the fact whose news it works in',
      [{ event: 'UPDATE', id: '1', text: 'User likes tea, has a cat' }],
      ['f1'],
    ],
    ['without an event takes it all the same', [{ id: '0', text: 'User moved to Bergen, Norway' }], ['f0']],
    ['that deletes takes the fact nearest to the memory', [{ event: 'DELETE', id: '0', text: OSLO }], ['f0']],
    [
      'that deletes takes what the others left',
      [
        { event: 'DELETE', id: '0' },
        { event: 'ADD', text: BERGEN },
      ],
      ['f1', 'f0'],
    ],
    ['with nothing in it but a memory and UPDATE takes a fact', [{ event: 'UPDATE', id: '0' }], ['f0']],
    [
      'for a memory that was changed by another takes none by chance',
      [
        { event: 'UPDATE', id: '0', text: BERGEN },
        { event: 'UPDATE', id: '0', text: 'User likes the sea' },
        { event: 'DELETE', id: '0' },
      ],
      ['f0', null, null],
    ],
    ['that echoes a memory takes none', [{ event: 'NONE', id: '0', text: OSLO }], [null]],
    ['that echoes a memory under another id takes none', [{ event: 'NONE', id: 'x', text: OSLO }], [null]],
    ['that echoes a memory without an event takes none', [{ id: '0', text: 'user lives in oslo.' }], [null]],
    [
      'that is NONE and a little like a fact takes none',
      [{ event: 'NONE', id: '0', text: 'User lives in Bergen' }],
      [null],
    ],
    ['that repeats a fact as NONE takes it', [{ event: 'NONE', id: '1', text: CAT }], ['f1']],
    ['with nothing in it takes none', [{ event: null, id: '0' }, { event: 'NONE', id: '1' }, {}], [null, null, null]],
    ['that tells of something else takes none', [{ event: 'ADD', text: 'The moon is made of cheese' }], [null]],
    ['that deletes an unknown memory takes none', [{ event: 'DELETE', id: '99' }], [null]],
  ])('%s', (_name, raw, expected) => {
    expect(attributed(raw.map(entry), FACTS, MEMORIES).map(({ fact }) => fact)).toEqual(expected);
  });

  it('takes only facts whose recall showed the memory', () => {
    const raw = [entry({ event: 'UPDATE', id: '2', text: BERGEN }), entry({ event: 'DELETE', id: '2' })];
    const memories = [...MEMORIES, memory('2', 'User has a dog', ['f1'])];
    expect(attributed(raw, FACTS, memories).map(({ fact }) => fact)).toEqual([null, 'f1']);
  });

  it('never takes a fact that another operation names', () => {
    const raw = [entry({ event: 'UPDATE', id: '0', text: BERGEN }), entry({ event: 'ADD', fact: 'f0' })];
    expect(attributed(raw, FACTS, MEMORIES).map(({ fact }) => fact)).toEqual([null, 'f0']);
  });
});

describe('a fact', () => {
  it.each([
    ['f0', 'f0'],
    ['F1', 'f1'],
    ['1', 'f1'],
    [CAT, 'f1'],
    ['f99', 'f99'],
    ['__proto__', '__proto__'],
  ])('named %j is %j', (named, expected) => {
    expect(attributed([entry({ fact: named })], FACTS, MEMORIES)[0]?.fact).toBe(expected);
  });
});

describe("an answer in mem0's older shape", () => {
  it.each<[string, Case]>([
    [
      'that deletes without the new fact keeps the fact',
      {
        memories: [OSLO],
        facts: [HOME],
        asked: [{ event: 'DELETE', id: '0', text: OSLO }],
        ends: ['ADD'],
        live: [HOME],
      },
    ],
    [
      'that echoes its memories loses no fact',
      {
        memories: [OSLO, TEA],
        facts: [HOME],
        asked: [
          { event: 'NONE', id: '0', text: OSLO },
          { event: 'NONE', id: '1', text: TEA },
        ],
        ends: ['ADD'],
        live: [HOME, OSLO, TEA],
        did: ['added, so that'],
      },
    ],
    [
      'that echoes the question is no answer',
      {
        memories: [OSLO, TEA],
        facts: [HOME],
        asked: [
          { id: '0', text: OSLO },
          { id: '1', text: TEA },
        ],
        ends: ['ADD'],
        live: [HOME, OSLO, TEA],
        did: ['refused: not based on any fact', 'refused: not based on any fact', 'added, so that'],
      },
    ],
    [
      'that changes one memory twice changes it once',
      {
        memories: [OSLO],
        facts: [HOME, TEA],
        asked: [
          { event: 'UPDATE', id: '0', text: HOME },
          { event: 'UPDATE', id: '0', text: 'User went to sea' },
        ],
        ends: ['UPDATE', 'ADD'],
        live: [HOME, TEA],
        did: ['refused: not based on any fact', 'added, so that'],
      },
    ],
    [
      'that adds twice what is one fact adds it once',
      {
        facts: [OSLO],
        asked: [
          { event: 'ADD', text: OSLO },
          { event: 'ADD', text: OSLO },
        ],
        ends: ['ADD'],
        live: [OSLO],
        did: ['refused: not based on any fact'],
      },
    ],
  ])('%s', (_name, given) => {
    expectCase(given);
  });
});

const entry = (given: Partial<RawOperation>): RawOperation => ({
  fact: null,
  event: null,
  id: null,
  text: null,
  reason: null,
  keep: true,
  ...given,
});

const fact = (id: string, text: string): Fact => ({
  id,
  text,
  sourceIds: [],
  quote: null,
  category: null,
  language: null,
  about: 'user',
  trust: 'user',
  saidAt: { at: 0, seq: 0 },
  validFrom: 0,
});

const memory = (shortId: string, text: string, by: readonly string[]): Candidate => ({
  shortId,
  memoryId: `mem_${shortId}`,
  version: 1,
  revision: 1,
  text,
  saidAt: { at: 0, seq: 0 },
  standing: 'live',
  immutable: false,
  recalledBy: by.map((id) => ({ fact: id, vector: 0.5, keyword: null })),
});

const FACTS = [fact('f0', BERGEN), fact('f1', CAT)];
const MEMORIES = [memory('0', OSLO, ['f0', 'f1']), memory('1', TEA, ['f0', 'f1'])];
