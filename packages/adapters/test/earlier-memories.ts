import { DEFAULT_TENANT, type Ledger, type Tools } from '@slowwave/engine';
import { added, confirmed, details, home, scope, user } from '@slowwave/engine/testing';
import { expect } from 'vitest';

/** Memories of every rank are ranked the same by what a migration does to those of an earlier release. */
export async function expectRankedAgain(ledger: Ledger, tools: Tools, rankAgain: () => Promise<void>): Promise<void> {
  const lane = await ledger.memories.laneOf(DEFAULT_TENANT, user('ann'), 1);
  const of = (text: string, given: Parameters<typeof details>[0]) =>
    added(tools, home(lane), { text, details: details(given) });
  const repeated = of('repeated', { category: 'food' });
  const twice = confirmed(tools, repeated.memory);
  const thrice = confirmed(tools, twice.memory);
  const changes = [
    of('name', { category: 'personal_details' }),
    of('job', { category: 'professional_details', immutable: true }),
    of('pinned', { pinned: true }),
    of('trip', { category: 'travel' }),
    of('agent', { category: 'personal_details', about: 'agent' }),
    { memory: thrice.memory, expectedRevision: 0, events: [repeated, twice, thrice].flatMap(({ events }) => events) },
  ];
  await ledger.memories.write(DEFAULT_TENANT, { changes, tombstones: [], now: 1 });
  const profile = () => ledger.present.profile(DEFAULT_TENANT, scope(), { at: tools.now(), limit: 10 });
  const before = await profile();
  expect(before.map(({ text }) => text)).toEqual(['pinned', 'job', 'name', 'repeated']);
  await rankAgain();
  expect(await profile()).toEqual(before);
}
