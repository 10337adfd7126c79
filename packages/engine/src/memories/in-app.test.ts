import { added, confirmed, deleted, fixedTools, home, retracted, scope, updated } from '@slowwave/engine-testing';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LaneId, Memory, Under } from '../words.ts';
import { deletedAt, inOrder, newest } from './evolve.ts';
import { eventsInApp, inApp, isShared } from './in-app.ts';

const under = (appId: string | null): Under => ({ agentId: null, runId: null, appId });
const LANE = 'lane_1' as LaneId;
const MINUTE = 60_000;

interface Saying {
  readonly kind: 'says' | 'confirms' | 'deletes';
  /** null: in no app. */
  readonly app: string | null;
  readonly text: string;
  /** Minutes before it is heard. */
  readonly late: number;
}

/** A memory of what was said, in the order in which it arrived; null where nothing was. */
function told(sayings: readonly (Saying & { readonly at: number })[]): Memory | null {
  const tools = fixedTools();
  let memory: Memory | null = null;
  for (const { kind, app, text, at } of sayings) {
    const said = { text, under: under(app), saidAt: { at, seq: 1 }, recordedAt: at };
    if (memory === null) {
      if (kind === 'deletes') continue;
      ({ memory } = added(tools, home(LANE, { scope: scope({ userId: 'ann', appId: app }) }), said));
    } else if (kind === 'deletes') {
      ({ memory } = deleted(tools, memory, { saidAt: said.saidAt, recordedAt: at }));
    } else {
      ({ memory } = kind === 'says' ? updated(tools, memory, said) : confirmed(tools, memory, said));
    }
  }
  return memory;
}

const anySaying = fc.record({
  kind: fc.constantFrom<Saying['kind']>('says', 'says', 'confirms', 'deletes'),
  app: fc.constantFrom<string | null>('shop', 'shop', 'health', null),
  text: fc.constantFrom('Oslo', 'Bergen', 'Rome'),
  late: fc.constantFrom(0, 0, 1, 7),
});

/** What can be read of a memory, without the numbers of its versions: those are of the whole. */
const readable = (memory: Memory | null) =>
  memory && {
    versions: inOrder(memory).map(({ text, saidAt, validFrom, invalidAt }) => ({ text, saidAt, validFrom, invalidAt })),
    deletedAt: deletedAt(memory),
    confirmations: memory.confirmations,
    appId: memory.scope.appId,
  };

describe('a memory as one app knows it', () => {
  it('is what it would be had nothing been said elsewhere, whatever was said and in whatever order', () => {
    fc.assert(
      fc.property(fc.array(anySaying, { minLength: 1, maxLength: 10 }), (sayings) => {
        const all = sayings.map((one, i) => ({ ...one, at: (100 + i * 2 - one.late) * MINUTE }));
        const memory = told(all);
        const own = told(all.filter(({ app, kind }) => app === 'shop' || kind === 'deletes'));
        // A deletion before anything was said is none of the whole, but may be one of what an app hears later.
        fc.pre(all[0]?.kind !== 'deletes' && all.find(({ app }) => app === 'shop')?.kind !== 'deletes');
        fc.pre(firstDeletion(all) > all.findIndex(({ app }) => app === 'shop'));
        expect(readable(memory === null ? null : inApp(memory, 'shop'))).toEqual(readable(own));
      }),
      { numRuns: 500 },
    );
  });

  it('is not there for an app that was told nothing of it, or of which all is undone', () => {
    const tools = fixedTools();
    const first = added(tools, home(LANE, { scope: scope({ userId: 'ann', appId: 'shop' }) }), { text: 'Oslo' });
    const second = confirmed(tools, first.memory, { under: under('health') });
    expect(inApp(second.memory, 'bank')).toBeNull();
    expect(inApp(second.memory, 'health')?.scope.appId).toBe('health');
    const undone = retracted(tools, second.memory, { retracts: [2] });
    expect(inApp(undone.memory, 'health')).toBeNull();
    expect(isShared(undone.memory, 'shop')).toBe(false);
    const redone = retracted(tools, undone.memory, { retracts: [3] });
    expect(inApp(redone.memory, 'health')?.versions).toHaveLength(1);
  });

  it('has an explicit change of what it had to itself, and none of what others were told, too', () => {
    const tools = fixedTools();
    const born = added(tools, home(LANE, { scope: scope({ userId: 'ann', appId: 'shop' }) }), { text: 'Oslo' });
    const changed = updated(tools, born.memory, { text: 'Bergen' });
    expect(inApp(changed.memory, 'shop')).toBe(changed.memory);
    tools.advance(MINUTE);
    const shared = updated(tools, changed.memory, { text: 'Rome', under: under('health') });
    tools.advance(MINUTE);
    const pinned = updated(tools, shared.memory, {
      text: 'Rome',
      details: { pinned: true, metadata: { from: 'health' } },
    });
    const known = inApp(pinned.memory, 'shop');
    expect(known && newest(known).text).toBe('Bergen');
    expect(JSON.stringify(known)).not.toMatch(/Rome|health/);
  });

  it('has a history that tells nothing of what others were told', () => {
    const tools = fixedTools();
    const at = home(LANE, { scope: scope({ userId: 'ann', appId: 'health' }) });
    const first = added(tools, at, { text: 'Eve', reason: 'the sister is Eve' });
    const second = updated(tools, first.memory, { text: 'Mia', under: under('shop'), reason: 'Mia instead of Eve' });
    const third = deleted(tools, second.memory, { under: under('health'), reason: 'forget Eve' });
    const known = inApp(third.memory, 'shop');
    const events = [first, second, third].flatMap((change) => change.events);
    const shown = known === null ? [] : eventsInApp(known, events, 'shop');
    expect(shown.map(({ kind, previous, text }) => [kind, previous, text])).toEqual([
      ['UPDATE', null, 'Mia'],
      ['DELETE', 'Mia', null],
    ]);
    expect(JSON.stringify(shown)).not.toContain('Eve');
  });
});

const firstDeletion = (sayings: readonly Saying[]): number => {
  const place = sayings.findIndex(({ kind }) => kind === 'deletes');
  return place === -1 ? sayings.length : place;
};
