import { type Case, expectCase, playGuard } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';

const OSLO = 'User lives in Oslo';
const BERGEN = 'User lives in Bergen';
const ROME = 'User lives in Rome';
const TEA = 'User likes tea';

const known = (...life: [number, string | null][]) => ({ life });
const late = (text: string, minute: number) => ({ text, minute });

describe('facts of one consolidation', () => {
  it('that follow on each other become successive versions of one memory', () => {
    const played = expectCase({
      memories: [OSLO],
      facts: [BERGEN, TEA, ROME],
      asked: [
        ['f0', 'UPDATE', '0', BERGEN],
        ['f1', 'ADD'],
        ['f2', 'UPDATE', 'f0', ROME],
      ],
      ends: ['UPDATE', 'ADD', 'UPDATE'],
      live: [ROME, TEA],
    });
    expect(played.versions(0)).toEqual([OSLO, BERGEN, ROME]);
    expect(played.operations.map(({ revision }) => revision)).toEqual([1, 0, 2]);
  });

  it('that change one memory are chained in the order they were said, not that of the answer', () => {
    const played = expectCase({
      memories: [OSLO],
      facts: [BERGEN, ROME],
      asked: [
        ['f1', 'UPDATE', '0', ROME],
        ['f0', 'UPDATE', '0', BERGEN],
      ],
      ends: ['UPDATE', 'UPDATE'],
      live: [ROME],
    });
    expect(played.versions(0)).toEqual([OSLO, BERGEN, ROME]);
  });

  it('that follow on a fact with several wishes mean its first memory', () => {
    expectCase({
      memories: [OSLO, TEA],
      facts: [BERGEN, ROME],
      asked: [
        ['f0', 'UPDATE', '0', BERGEN],
        ['f0', 'UPDATE', '1', 'User likes tea from Bergen'],
        ['f1', 'UPDATE', 'f0', ROME],
      ],
      ends: ['UPDATE', 'UPDATE'],
      live: [ROME, 'User likes tea from Bergen'],
    });
  });

  it('that follow on a dropped one stand alone', () => {
    expectCase({
      memories: [TEA],
      facts: ['Forget my tea', OSLO],
      asked: [
        ['f0', 'DELETE', '0', null, 'forget'],
        ['f1', 'UPDATE', 'f0', OSLO],
      ],
      ends: ['DROPPED', 'ADD'],
      live: [OSLO],
      did: ['repaired: added, because neither this memory'],
    });
  });
});

describe('what was said before is settled without the model', () => {
  it.each<[string, Case]>([
    ['the same words', { memories: [TEA], facts: [TEA], asked: null, ends: ['NONE'], live: [TEA] }],
    ['nearly the same', { memories: [TEA], facts: ['user likes  TEA.'], asked: null, ends: ['NONE'], live: [TEA] }],
    ['in an earlier fact', { facts: [TEA, TEA, TEA], asked: null, ends: ['ADD', 'NONE', 'NONE'], live: [TEA] }],
    [
      'moved away and back: the former version holds again',
      { memories: [known([1, OSLO], [2, BERGEN])], facts: [OSLO], asked: null, ends: ['UPDATE'], live: [OSLO] },
    ],
    [
      'moved away and back within one consolidation',
      {
        facts: [OSLO, BERGEN, OSLO],
        asked: [
          ['f0', 'ADD'],
          ['f1', 'UPDATE', 'f0', BERGEN],
        ],
        ends: ['ADD', 'UPDATE', 'UPDATE'],
        live: [OSLO],
      },
    ],
    [
      'of two memories the one that holds, not the one that once said so',
      {
        memories: [known([1, OSLO], [2, BERGEN]), OSLO],
        facts: [OSLO],
        asked: null,
        ends: ['NONE'],
        live: [BERGEN, OSLO],
      },
    ],
    [
      'forgotten and said anew in one consolidation',
      {
        memories: [TEA],
        facts: ['Forget my tea', TEA],
        asked: [['f0', 'DELETE', '0', null, 'forget']],
        ends: ['DROPPED', 'UPDATE'],
        live: [TEA],
      },
    ],
    [
      'wishes for such a fact are refused',
      {
        memories: [TEA],
        facts: [TEA, OSLO],
        asked: [
          ['f0', 'DELETE', '0'],
          ['f1', 'ADD'],
        ],
        ends: ['NONE', 'ADD'],
        live: [OSLO, TEA],
        did: ['refused: not based on any fact'],
      },
    ],
    [
      'in add_only mode nothing is changed back',
      {
        memories: [known([1, OSLO], [2, BERGEN])],
        facts: [OSLO, BERGEN],
        asked: null,
        addOnly: true,
        ends: ['ADD', 'NONE'],
        live: [BERGEN, OSLO],
      },
    ],
    [
      'a memory that has expired is said anew',
      { memories: [{ life: [[1, TEA]], expires: 50 }], facts: [TEA], asked: null, ends: ['UPDATE'], live: [TEA] },
    ],
  ])('%s', (_name, given) => {
    expectCase(given);
  });

  it('said anew after its expiry it does not expire with the old one', () => {
    const { memory } = playGuard({ memories: [{ life: [[1, TEA]], expires: 50 }], facts: [TEA], asked: null });
    expect(memory(0).versions.map(({ details }) => details.expiresAt)).toEqual([null]);
  });
});

describe('what was deleted', () => {
  it.each<[string, Case]>([
    [
      'stays deleted when it is told again from before',
      { memories: [known([1, TEA], [200, null])], facts: [late(TEA, 50)], asked: null, ends: ['NONE'], live: [] },
    ],
    [
      'stays deleted though no one recalled it, however often it is told',
      {
        facts: [late(TEA, 50), late(TEA, 51)],
        tombstones: [[200, TEA]],
        asked: null,
        ends: ['DROPPED', 'DROPPED'],
        live: [],
        did: ['dropped: the same memory was deleted', 'dropped: the same memory was deleted'],
      },
    ],
    [
      'stays deleted though the model wants it back',
      {
        memories: [OSLO],
        facts: [late(TEA, 50)],
        tombstones: [[200, TEA]],
        asked: [['f0', 'ADD']],
        ends: ['DROPPED'],
        live: [OSLO],
        did: ['dropped'],
      },
    ],
    [
      'comes back when the user says it anew',
      { facts: [late(TEA, 201)], tombstones: [[200, TEA]], asked: null, ends: ['ADD'], live: [TEA] },
    ],
    [
      'comes back when the model says it is known again',
      {
        memories: [known([1, TEA], [50, null])],
        facts: ['User is fond of tea'],
        asked: [['f0', 'NONE', '0']],
        ends: ['UPDATE'],
        live: [TEA],
      },
    ],
  ])('%s', (_name, given) => {
    expectCase(given);
  });
});

describe('what is told late', () => {
  it('becomes a closed version', () => {
    const played = expectCase({
      memories: [known([90, BERGEN])],
      facts: [late(OSLO, 10)],
      asked: [['f0', 'UPDATE', '0', OSLO]],
      ends: ['UPDATE'],
      live: [BERGEN],
    });
    const [bergen, oslo] = played.memory(0).versions;
    expect(oslo).toMatchObject({ text: OSLO, invalidAt: bergen?.validFrom, supersededBy: bergen?.number });
  });

  it('deletes only what had been said by then', () => {
    const played = expectCase({
      memories: [known([1, OSLO], [90, BERGEN])],
      facts: [late('User left Oslo', 10)],
      asked: [['f0', 'DELETE', '0', null, 'forget']],
      ends: ['DROPPED'],
      live: [BERGEN],
    });
    const [oslo, bergen] = played.memory(0).versions;
    expect(oslo?.invalidAt).toBeLessThan(bergen?.validFrom ?? 0);
    expect(played.events[0]?.previous, 'what stays blocked from before is what was deleted').toBe(OSLO);
  });

  it('confirms what held then', () => {
    const played = expectCase({
      memories: [known([1, OSLO], [90, BERGEN])],
      facts: [late(OSLO, 10)],
      asked: null,
      ends: ['NONE'],
      live: [BERGEN],
    });
    expect(played.versions(0)).toEqual([OSLO, BERGEN]);
  });

  it('is not merged into another memory for the sake of words that hold no longer', () => {
    expectCase({
      memories: [known([90, BERGEN]), OSLO],
      facts: [late('User has lived in Oslo', 10)],
      asked: [['f0', 'UPDATE', '0', OSLO]],
      ends: ['UPDATE'],
      live: [BERGEN, OSLO],
    });
  });
});

describe('deletions told out of order', () => {
  it('end a memory earlier than was known, with the old text', () => {
    const played = expectCase({
      memories: [known([1, TEA], [200, null])],
      facts: ['Forget my tea'],
      asked: [['f0', 'DELETE', '0', null, 'forget']],
      ends: ['DROPPED'],
      live: [],
    });
    expect(played.memory(0).versions[0]?.invalidAt).toBe(played.events[0]?.saidAt.at);
    expect(played.operations[0]?.before).toBe(TEA);
  });

  it('are over where it was said anew since: nothing is kept of the wish', () => {
    expectCase({
      memories: [known([1, TEA], [50, null], [200, TEA])],
      facts: ['Forget my tea'],
      asked: [['f0', 'DELETE', '0', null, 'forget']],
      ends: ['DROPPED'],
      live: [TEA],
      did: ['refused: it is deleted already'],
    });
  });

  it('let in what was said before them as a former version, and nothing else of it', () => {
    const tombstones = [[200, BERGEN]] as const;
    const memories = [known([1, OSLO], [200, null])];
    const joined = { memories, tombstones, facts: [BERGEN], live: [], ends: ['UPDATE'] };
    const played = expectCase({ ...joined, asked: [['f0', 'UPDATE', '0', BERGEN]] });
    expect(played.versions(0)).toEqual([OSLO, BERGEN]);
    const refused = { ...joined, ends: ['DROPPED'], did: ['dropped: the same memory was deleted'] };
    expectCase({ ...refused, asked: [['f0', 'ADD']] });
    expectCase({ ...refused, asked: [] });
  });
});
