import { type Appended, EngineError, type NewMessage } from '@slowwave/engine';
import { fixedTools, newBatch, newMessage } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { type Append, postedFrom } from '../../ledger/batches.ts';
import { appendGroups } from './append-groups.ts';

const tools = fixedTools();
const STORED: Appended = { kind: 'stored', nudge: null, paused: 'none' };
const upTo = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
const appendOf = (content: string): Append => ({
  posted: postedFrom(newBatch(tools, { messages: [newMessage(tools, { content })] })),
  policy: { tokens: 1, idleMs: 1, maxAgeMs: 1 },
  newLaneId: 'lane_new' as Append['newLaneId'],
});
function contentOf({ posted: { messages } }: Append): unknown {
  const [first] = typeof messages === 'string' ? (JSON.parse(messages) as readonly NewMessage[]) : messages;
  return first?.content;
}

/** A store that takes a moment for each group, and refuses groups with a bad batch as a whole. */
function bench(given: { bad?: readonly string[]; outage?: boolean } = {}) {
  const written: unknown[][] = [];
  const groups = appendGroups(async (group) => {
    await new Promise(setImmediate);
    if (given.outage) throw new EngineError('away', { code: 'ledger_unavailable', retryable: true });
    const contents = group.map(contentOf);
    if (contents.some((content) => given.bad?.includes(String(content)))) {
      throw new EngineError('refused', { code: 'internal', retryable: false });
    }
    written.push(contents);
    return group.map(() => STORED);
  });
  return { groups, written };
}

describe('appends that come at the same time', () => {
  it('are written in one group, and those that come meanwhile in the next', async () => {
    const { groups, written } = bench();
    const first = [groups.append(appendOf('a')), groups.append(appendOf('b'))];
    await new Promise(setImmediate);
    const second = groups.append(appendOf('c'));
    expect(await Promise.all([...first, second])).toEqual([STORED, STORED, STORED]);
    expect(written).toEqual([['a', 'b'], ['c']]);
  });

  it('fail alone when they cannot be stored', async () => {
    const { groups, written } = bench({ bad: ['c', 'f'] });
    const settled = await Promise.allSettled([...'abcdefg'].map((content) => groups.append(appendOf(content))));
    expect(settled.map(({ status }) => status === 'fulfilled')).toEqual([true, true, false, true, true, false, true]);
    expect(written.flat()).toEqual(['a', 'b', 'd', 'e', 'g']);
  });

  it('all fail, once, while the ledger is away', async () => {
    const { groups } = bench({ outage: true });
    const settled = await Promise.allSettled([...'abc'].map((content) => groups.append(appendOf(content))));
    for (const one of settled) {
      expect(one).toMatchObject({ status: 'rejected', reason: { code: 'ledger_unavailable', retryable: true } });
    }
  });

  it('are cut into groups by number and by length', async () => {
    const { groups, written } = bench();
    await Promise.all(upTo(600).map((i) => groups.append(appendOf(String(i)))));
    expect(written.map((group) => group.length)).toEqual([256, 256, 88]);
    written.length = 0;
    const long = 'x'.repeat(1_500_000);
    await Promise.all([long, long, long, 'y'].map((content) => groups.append(appendOf(content))));
    expect(written.map((group) => group.length)).toEqual([2, 2]);
  });

  it('are answered before the groups close, and refused after', async () => {
    const { groups } = bench();
    const answers = upTo(300).map((i) => groups.append(appendOf(String(i))));
    await groups.close();
    expect(await Promise.all(answers)).toHaveLength(300);
    await expect(groups.append(appendOf('late'))).rejects.toThrow(/closed/);
  });
});
