import { shownPart } from '@slowwave/engine';
import { indexPoint } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import { keptPart, shownFrom } from './index-point.ts';

const USUAL = indexPoint({ memoryId: 'mem_1', text: 'Likes tea' });

/** Nothing is as usual. */
const OTHER = indexPoint({
  ...{
    shelf: 'messages',
    owner: { kind: 'agent', id: 'bot' },
    memoryId: 'msg_2',
    version: 3,
    revision: 4,
    live: false,
  },
  ...{
    scope: { userId: 'eve', agentId: null, runId: 'r', appId: 'a' },
    ids: { agentId: ['x'], runId: ['r'], appId: ['a'] },
  },
  ...{
    text: '',
    speaker: 'Eve',
    saidAt: { at: 5, seq: 6 },
    validFrom: 7,
    shownFrom: 8,
    utcOffset: 60,
    invalidAt: 9,
    expiresAt: 10,
  },
  ...{
    deletedAt: { at: 11, seq: 12 },
    category: 'food',
    metadata: { a: { b: [null] } },
    immutable: true,
    trust: 'tool',
  },
  ...{
    flagged: true,
    concluded: { certainty: 'likely' } as never,
    feedback: -0.5,
    sourceIds: ['m1', 'm2'],
    confirmations: 2,
  },
  ...{ createdAt: 13, updatedAt: 14, toldLast: { alone: ['a'], shared: [] } },
});

test.each([
  ['as usual', USUAL],
  ['as nobody expects it', OTHER],
  ['of its own message', { ...USUAL, memoryId: 'msg_1', sourceIds: ['msg_1'] }],
  ['that came from nothing', { ...USUAL, sourceIds: [] }],
])('a point %s is shown as it was', (_, point) => {
  const { shelf, tenant, lane, owner, memoryId, version, live } = point;
  expect(shownFrom(keptPart(point), { shelf, tenant, lane, owner, memoryId, version, live })).toEqual(shownPart(point));
});

test('a usual point takes little more than its text and three moments', () => {
  expect(JSON.stringify(keptPart(USUAL)).length).toBeLessThan(120);
});
