import { expect, test } from 'vitest';
import type { Batch } from '../ports/ledger/batches.ts';
import { batchNotice } from './notices.ts';

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
