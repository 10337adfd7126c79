import { added, details, fixedTools, home } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import type { RawOperation } from '../../models/parse/listed.ts';
import type { Candidate, Fact, ReviewedKind } from '../../plan.ts';
import type { LaneId, Memory } from '../../words.ts';
import { guard } from '../judge.ts';

const AT = home('lane_1' as LaneId);

describe('a policy that lets operations wait for a person', () => {
  it('holds back an update; the memory stays, and the fact says that it waits', () => {
    const { told, memory } = known('lives in Oslo');
    const { events, held, outcomes } = told(['UPDATE'], ['lives in Bergen'], [wish('f0', 'UPDATE', '0')]);
    expect(events).toEqual([]);
    expect(held).toMatchObject([
      { kind: 'UPDATE', fact: 'f0', memoryId: memory.id, before: 'lives in Oslo', after: 'lives in Bergen' },
    ]);
    expect(held[0]?.id).toMatch(/^rev_/);
    expect(outcomes).toEqual([{ fact: 'f0', outcome: 'UPDATE', reason: 'said so; its UPDATE is waiting for review' }]);
  });

  it('lets the other kinds pass', () => {
    const { told } = known('lives in Oslo');
    const wishes = [wish('f0', 'UPDATE', '0'), wish('f1', 'ADD', null)];
    const { events, held, outcomes } = told(['DELETE'], ['lives in Bergen', 'has a cat'], wishes);
    expect(events.map((event) => event.kind)).toEqual(['UPDATE', 'ADD']);
    expect(held).toEqual([]);
    expect(outcomes.map((outcome) => outcome.reason)).toEqual(['said so', 'said so']);
  });

  it('holds back what follows on an addition that waits, for the same new memory', () => {
    const { told } = known('has a cat');
    const facts = ['lives in Oslo', 'lives in Bergen', 'no longer lives in Bergen'];
    const wishes = [wish('f0', 'ADD', null), wish('f1', 'UPDATE', 'f0'), wish('f2', 'DELETE', 'f1')];
    const { events, held, outcomes } = told(['ADD'], facts, wishes);
    expect(events).toEqual([]);
    expect(held.map(({ kind, fact, before }) => [kind, fact, before])).toEqual([
      ['ADD', 'f0', null],
      ['ADD', 'f1', 'lives in Oslo'],
      ['ADD', 'f2', null],
      ['DELETE', 'f2', 'lives in Bergen'],
    ]);
    expect(new Set([0, 1, 3].map((i) => held[i]?.memoryId)).size).toBe(1);
    expect(outcomes.map((outcome) => outcome.outcome)).toEqual(['ADD', 'UPDATE', 'ADD']);
  });

  it('lets what only repeats it wait with it, without a second operation', () => {
    const { told } = known('has a cat');
    const wishes = [wish('f0', 'ADD', null), wish('f1', 'ADD', null)];
    const { events, held, outcomes } = told(['ADD'], ['Lives in Oslo', 'lives in Oslo.'], wishes);
    expect(events).toEqual([]);
    expect(held).toHaveLength(1);
    expect(outcomes[1]).toMatchObject({ outcome: 'NONE', reason: expect.stringContaining('is waiting for review') });
  });

  it('deletes nothing that a fact confirms while it waits', () => {
    const { told, memory } = known('lives in Norway');
    const merged = { ...wish('f1', 'UPDATE', '0'), text: 'lives in Oslo' };
    const wishes = [wish('f0', 'ADD', null), wish('f1', 'ADD', null), merged, wish('f1', 'DELETE', 'f0')];
    for (const review of [[], ['ADD', 'DELETE']] as const) {
      const { events, held, remarks } = told(review, ['lives in Oslo', 'has a cat in Oslo'], wishes);
      const deletions = [...events, ...held].filter(({ kind }) => kind === 'DELETE');
      expect(deletions.map(({ memoryId }) => memoryId)).toEqual([memory.id]);
      expect(remarks).toMatchObject([{ did: 'refused: the fact has already changed this memory' }]);
    }
  });

  it('confirms what holds without it at once', () => {
    const { told, memory } = known('lives in Oslo');
    const wishes = [{ ...wish('f0', 'DELETE', '0'), keep: false }, wish('f1', 'NONE', '0')];
    const { events, held, outcomes } = told(['DELETE'], ['forget my home', 'still lives in Oslo'], wishes);
    expect(held.map((operation) => operation.kind)).toEqual(['DELETE']);
    expect(events).toMatchObject([{ kind: 'NONE', memoryId: memory.id, revision: 2, text: 'lives in Oslo' }]);
    expect(outcomes[0]).toMatchObject({ outcome: 'DROPPED', reason: expect.stringContaining('DELETE is waiting') });
  });

  it('deletes nothing for a fact that waits to take its place', () => {
    const { told } = known('lives in Oslo');
    const wishes = [wish('f0', 'ADD', null), wish('f0', 'DELETE', '0')];
    const { events, held } = told(['ADD'], ['lives in Bergen'], wishes);
    expect(events).toEqual([]);
    expect(held.map((operation) => operation.kind)).toEqual(['ADD', 'DELETE']);
  });

  it('builds events on what holds without it', () => {
    const { told } = known('lives in Oslo');
    const wishes = [wish('f0', 'DELETE', '0'), wish('f1', 'UPDATE', '0')];
    const { events } = told(['DELETE'], ['left Oslo', 'lives in Oslo again'], wishes);
    const update = events.find((event) => event.kind === 'UPDATE');
    expect(update).toMatchObject({ revision: 2, previous: 'lives in Oslo', text: 'lives in Oslo again' });
  });
});

const wish = (fact: string, event: RawOperation['event'], id: string | null): RawOperation => ({
  fact,
  event,
  id,
  text: null,
  reason: 'said so',
  keep: true,
});

/** A memory, and a guard that was shown it. */
function known(text: string) {
  const tools = fixedTools();
  const { memory } = added(tools, AT, { text });
  const told = (review: readonly ReviewedKind[], texts: readonly string[], asked: readonly RawOperation[]) => {
    tools.advance(1_000);
    const facts = texts.map((fact, i) => factOf(fact, i, tools.now()));
    const input = {
      home: AT,
      consolidationId: 'con_1',
      facts,
      candidates: [candidateOf(memory, facts)],
      memories: new Map([[memory.id, memory]]),
      metadataOf: () => ({}),
      isOwnWish: () => true,
      expiresAt: null,
      shared: new Set<string>(),
      deletesMax: 10,
      externalWaits: false,
      isFlagged: () => false,
      review,
      waiting: new Map(),
      tools,
    };
    return guard(input, { asked, repeats: new Map(), tombstones: new Map() });
  };
  return { told, memory };
}

const factOf = (text: string, i: number, at: number): Fact => ({
  ...details(),
  id: `f${i}`,
  text,
  sourceIds: [`msg_${i}`],
  saidAt: { at, seq: i },
  validFrom: at,
});

const candidateOf = (memory: Memory, facts: readonly Fact[]): Candidate => ({
  shortId: '0',
  memoryId: memory.id,
  version: 1,
  revision: memory.revision,
  text: memory.versions[0]?.text ?? '',
  saidAt: { at: 0, seq: 0 },
  standing: 'live',
  immutable: false,
  recalledBy: facts.map((fact) => ({ fact: fact.id, vector: 1, keyword: 1 })),
});
