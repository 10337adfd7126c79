import { added, details, fixedTools, home, updated } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import type { Batch } from '../ports/ledger/lanes.ts';
import type { LaneId } from '../words.ts';
import { batchNotice, memoryNotices } from './notices.ts';

test('a receiver is told why a batch is parked, and no place of it, however long ago that was kept', () => {
  const failure = { code: 'model_unreachable', message: 'connect ECONNREFUSED 10.0.0.7:8080', at: 0 };
  const scope = { userId: 'ann', agentId: null, runId: null, appId: null };
  const parked = { id: 'bat_1', lane: 'lane_1', state: 'parked', attempts: 3, consolidationId: null, scope, failure };
  const { body } = batchNotice(parked as unknown as Batch, 1);
  expect(JSON.parse(body).data.error).toEqual({
    code: 'model_unreachable',
    message: 'connect ECONNREFUSED [address]',
  });
});

test('what a night notes of a memory that reads as before is no change of the memory', () => {
  const tools = fixedTools();
  const memory = added(tools, home('lane_1' as LaneId), { text: 'Lives in Oslo' }).memory;
  const change = (given: Parameters<typeof updated>[2]) => memoryNotices([updated(tools, memory, given)]);
  const placed = details({ placed: { slot: 'home', by: 'night' } });
  expect(change({ text: 'Lives in Oslo', actor: 'sleep', details: placed })).toEqual([]);
  expect(change({ text: 'Lives in Oslo', actor: 'api', details: placed })).toHaveLength(1);
  expect(change({ text: 'Lived in Oslo', actor: 'sleep' })).toHaveLength(1);
});
