import { added, confirmed, deleted, details, fixedTools, home, scope } from '@slowwave/engine-testing';
import { expect, test } from 'vitest';
import type { LaneId, Memory, VersionDetails } from '../words.ts';
import { profileRank } from './placement.ts';

const tools = fixedTools();
const memory = (given: Partial<VersionDetails>, where = scope()): Memory =>
  added(tools, home('lane_1' as LaneId, { scope: where }), { details: details(given) }).memory;

function repeated(times: number, given: Partial<VersionDetails>): Memory {
  let last = memory(given);
  for (let i = 0; i < times; i += 1) last = confirmed(tools, last).memory;
  return last;
}

test('who somebody is belongs to the profile, passing things do not', () => {
  expect(profileRank(memory({ category: 'personal_details' }))).toBeGreaterThan(0);
  expect(profileRank(memory({ category: 'user_preferences' }))).toBeGreaterThan(0);
  expect(profileRank(memory({ category: 'travel' }))).toBe(0);
  expect(profileRank(memory({ category: null }))).toBe(0);
});

test('what was said three times does, whatever it is about', () => {
  expect(profileRank(repeated(1, { category: 'food' }))).toBe(0);
  expect(profileRank(repeated(2, { category: 'food' }))).toBeGreaterThan(0);
  expect(profileRank(repeated(40, { category: 'food' }))).toBe(profileRank(repeated(9, { category: 'food' })));
});

test('what somebody pinned goes before what nobody may change, and both before all else', () => {
  const often = profileRank(repeated(40, { category: 'personal_details' }));
  expect(profileRank(memory({ immutable: true }))).toBeGreaterThan(often);
  expect(profileRank(memory({ pinned: true }))).toBeGreaterThan(profileRank(memory({ immutable: true })));
});

test("what an agent says of itself is no trait of its user, but it is the agent's own", () => {
  const said = { category: 'personal_details', about: 'agent' } as const;
  expect(profileRank(memory(said))).toBe(0);
  expect(profileRank(memory(said, scope({ userId: null, agentId: 'guide' })))).toBeGreaterThan(0);
});

test('what is deleted belongs to no profile', () => {
  expect(profileRank(deleted(tools, memory({ pinned: true })).memory)).toBe(0);
});
