import { type Case, expectCase } from '@slowwave/engine-testing';
import { describe, it } from 'vitest';

const OSLO = 'User lives in Oslo';
const BERGEN = 'User lives in Bergen';
const TEA = 'User likes tea';

describe('an immutable memory', () => {
  const fixed = { life: [[1, OSLO]], immutable: true } as const;
  const beside = 'repaired: added a new memory';
  it.each<[string, Case]>([
    [
      'is not changed: the fact stands beside it',
      {
        memories: [fixed],
        facts: [BERGEN],
        asked: [['f0', 'UPDATE', '0', BERGEN]],
        ends: ['ADD'],
        live: [BERGEN, OSLO],
        did: [beside],
      },
    ],
    [
      'is not deleted',
      {
        memories: [fixed],
        facts: [BERGEN],
        asked: [['f0', 'DELETE', '0']],
        ends: ['ADD'],
        live: [BERGEN, OSLO],
        did: ['refused: the memory is immutable'],
      },
    ],
    [
      'is not forgotten either, and the wish stays',
      {
        memories: [fixed],
        facts: ['Forget it'],
        asked: [['f0', 'DELETE', '0', null, 'forget']],
        ends: ['ADD'],
        live: ['Forget it', OSLO],
        did: ['refused: the memory is immutable'],
      },
    ],
    [
      'is confirmed',
      {
        memories: [fixed],
        facts: [OSLO, { text: OSLO, minute: 200 }],
        asked: null,
        ends: ['NONE', 'NONE'],
        live: [OSLO],
      },
    ],
    [
      'puts nothing beside it that stands elsewhere',
      {
        memories: [fixed, { life: [[1, BERGEN]], recalledBy: [] }],
        facts: [BERGEN],
        asked: [['f0', 'UPDATE', '0', 'User lives in Bergen']],
        ends: ['NONE'],
        live: [BERGEN, OSLO],
        did: [beside],
      },
    ],
    [
      'costs a second wish of the fact, not a second memory',
      {
        memories: [TEA, fixed],
        facts: [BERGEN],
        asked: [
          ['f0', 'UPDATE', '0', 'User likes tea in Bergen'],
          ['f0', 'UPDATE', '1', BERGEN],
        ],
        ends: ['UPDATE'],
        live: [OSLO, 'User likes tea in Bergen'],
        did: ['refused: the memory is immutable'],
      },
    ],
  ])('%s', (_name, given) => {
    expectCase(given);
  });
});
