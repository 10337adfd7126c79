import { expect, it } from 'vitest';
import { type HistoryEvent, replayed } from './replay.ts';

const event = (version: number, given: Partial<HistoryEvent>): HistoryEvent => ({
  id: `evt_${version}`,
  memory_id: 'mem_1',
  event: version === 1 ? 'ADD' : 'UPDATE',
  version,
  previous: null,
  memory: `v${version}`,
  actor: 'consolidation',
  consolidation_id: 'con_1',
  said_at: `2026-01-0${version}T00:00:00.000Z`,
  created_at: '2026-02-01T00:00:00.000Z',
  ...given,
});

it('the text that was said last is what events leave, whatever came last', () => {
  expect(replayed([event(1, {}), event(2, {})])).toBe('v2');
  expect(replayed([event(1, { said_at: '2026-01-09T00:00:00.000Z' }), event(2, {})])).toBe('v1');
});

it('a deletion leaves nothing, and neither does nothing at all', () => {
  expect(replayed([event(1, {}), event(2, { event: 'DELETE', memory: null })])).toBeNull();
  expect(replayed([])).toBeNull();
});

it('events with a gap are no history', () => {
  expect(() => replayed([event(1, {}), event(3, {})])).toThrow('expected 2');
});
