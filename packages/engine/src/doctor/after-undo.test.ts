import { done, NEVER, undoBench } from '@slowwave/engine-testing';
import { expect, it } from 'vitest';
import { eraseOwner } from '../erasure/erase.ts';
import { requestErasure } from '../erasure/request.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { examine } from './examine.ts';

const ONCE = { cascade: true, dryRun: false };

it('what was undone, and done again, is as sound as what was never touched', async () => {
  const b = await undoBench();
  const look = async () => (await examine(b.engine.deps, { depth: 'full', cancel: NEVER })).findings;
  const first = await b.say('home: Oslo', 'pet: cat');
  await b.say('home: Bergen');
  const [home] = await b.engine.memories();
  await b.writer.remove(DEFAULT_TENANT, home?.id ?? '');
  expect(await look()).toEqual([]);
  const { undo } = done(await b.undoer.undo(DEFAULT_TENANT, first, ONCE));
  expect(await b.engine.live()).toEqual([]);
  expect(await look()).toEqual([]);
  done(await b.undoer.redo(DEFAULT_TENANT, undo?.id ?? '', { dryRun: false }));
  expect(await look()).toEqual([]);
});

it('where a user was erased nothing is missing', async () => {
  const b = await undoBench();
  await b.say('home: Oslo', 'pet: cat');
  const { deps } = b.engine;
  const look = async () => (await examine(deps, { depth: 'full', cancel: NEVER })).findings;
  const queue = { erase: async () => {}, forgetLane: async () => {} };
  const { id } = await requestErasure(deps, DEFAULT_TENANT, { kind: 'user', id: 'ann' });
  expect(await look()).toEqual([]);
  await eraseOwner({ ...deps, queue, settleMs: 0 })(id, NEVER);
  expect(await look()).toEqual([]);
});
