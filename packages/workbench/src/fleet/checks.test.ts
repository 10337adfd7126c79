import type { RecordedCall } from '@slowwave/testkit';
import { describe, expect, it } from 'vitest';
import { checkCalls } from './calls.ts';
import { checkFleet } from './checks.ts';
import type { FleetEvidence, UserEvidence } from './evidence.ts';
import { heldAfter, textOf } from './said.ts';

const BATCHES = 4;
const ids = ['b0', 'b1', 'b2', 'b3'];
const at = (second: number): string => `2026-01-01T00:00:0${second}.000Z`;

/** User 0 said levels 0 to 2 and kept stamp 3; two consolidations of two batches each. */
function sound(): UserEvidence {
  const [stamp, level] = heldAfter(0, BATCHES).toSorted(
    (a, b) => Number(a.includes('level')) - Number(b.includes('level')),
  );
  const said = (batch: number, version: number) => ({
    event: version === 1 ? 'ADD' : 'UPDATE',
    version,
    previous: version === 1 ? null : textOf(0, batch - 1),
    memory: textOf(0, batch),
    consolidation_id: batch < 2 ? 'c0' : 'c1',
  });
  return {
    user: 0,
    posted: ids,
    batches: ids.map((id, i) => ({ id, state: 'consolidated', attempts: 0, consolidation_id: i < 2 ? 'c0' : 'c1' })),
    consolidations: [
      { id: 'c0', state: 'applied', batch_ids: ['b0', 'b1'], created_at: at(0), applied_at: at(1) },
      { id: 'c1', state: 'applied', batch_ids: ['b2', 'b3'], created_at: at(1), applied_at: at(2) },
    ],
    live: [
      { id: 'm0', memory: level ?? '' },
      { id: 'm1', memory: stamp ?? '' },
    ],
    histories: new Map([
      ['m0', [said(0, 1), said(1, 2), said(2, 3)]],
      ['m1', [{ ...said(3, 1) }]],
    ]),
  };
}

const counts = { accepted: 4, pending: 0, consolidating: 0, consolidated: 4, parked: 0, gap: 0 };
const broken = (user: Partial<UserEvidence>, evidence: Partial<FleetEvidence> = {}): string[] =>
  checkFleet({ counts, users: [{ ...sound(), ...user }], ...evidence })
    .filter(({ misses }) => misses.length > 0)
    .map(({ what }) => what);

describe('what a fleet has done', () => {
  it('passes when it is right', () => {
    expect(broken({})).toEqual([]);
  });

  it('shows a batch that is missing from the counts', () => {
    expect(broken({}, { counts: { ...counts, consolidated: 3, gap: 1 } })).toEqual(['nothing is lost']);
  });

  it('shows a batch that two consolidations applied', () => {
    const [first, second] = sound().consolidations;
    const twice = [first, second].flatMap((one) => (one === undefined ? [] : [{ ...one, batch_ids: ['b0', 'b1'] }]));
    expect(broken({ consolidations: twice })).toContain('every batch has one outcome');
  });

  it('shows a lane whose later batches went first', () => {
    const consolidations = sound().consolidations.map((one, i) => ({
      ...one,
      batch_ids: i === 0 ? ['b2', 'b3'] : ['b0', 'b1'],
    }));
    expect(broken({ consolidations })).toContain("a lane's batches are consolidated in order");
  });

  it('shows two consolidations of a lane at one time', () => {
    const consolidations = sound().consolidations.map((one) => ({ ...one, created_at: at(0) }));
    expect(broken({ consolidations })).toEqual(['a lane has one consolidation at a time']);
  });

  it('shows a fact that was applied twice', () => {
    const { histories, live } = sound();
    const again = new Map([...histories, ['m2', histories.get('m1') ?? []]]);
    expect(broken({ histories: again, live })).toContain('every fact is applied once, in the order said');
  });

  it('shows events that do not lead to what holds', () => {
    const [level, stamp] = sound().live;
    const live = [level, stamp].flatMap((one) => (one === undefined ? [] : [{ ...one, memory: `${one.memory}!` }]));
    expect(broken({ live })).toEqual(['events replay to what holds']);
  });
});

describe('what a model was asked', () => {
  const call = (name: string, user: number, [begin, end]: [number, number | null]): RecordedCall => ({
    name,
    input: { messages: [{ content: textOf(user, 0) }] },
    system: '',
    request: {},
    count: 1,
    at: begin,
    apiKey: null,
    tokens: { prompt: 0, completion: 0 },
    status: 200,
    aborted: false,
    endedAt: end,
  });
  const missed = (...calls: RecordedCall[]): string[] =>
    checkCalls(calls)
      .filter(({ misses }) => misses.length > 0)
      .map(({ what }) => what);

  it('passes when each user is asked about in turn, and others meanwhile', () => {
    expect(
      missed(call('extract_facts', 1, [0, 5]), call('extract_facts', 2, [1, 6]), call('decide_operations', 1, [5, 9])),
    ).toEqual([]);
  });

  it('shows a lane that is in two places', () => {
    expect(missed(call('extract_facts', 1, [0, 5]), call('extract_facts', 1, [4, 9]))).toEqual([
      'no lane is in two places at once',
    ]);
    expect(missed(call('extract_facts', 1, [0, null]), call('extract_facts', 1, [4, 9]))).toEqual([
      'no lane is in two places at once',
    ]);
  });

  it('shows a call about two users', () => {
    const mixed = { ...call('extract_facts', 1, [0, 5]), input: { messages: [textOf(1, 0), textOf(2, 0)] } };
    expect(missed(mixed)).toEqual(['no call is about two users']);
  });
});
