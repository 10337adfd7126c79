import { done, expectTrue, NEVER, scope, type UndoBench, undoBench } from '@slowwave/engine-testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { examine } from '../doctor/examine.ts';
import { spaceOf } from '../ids.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import { DEFAULT_TENANT } from '../words.ts';
import { previewRetention, sweepRetention } from './retain.ts';

const TENANT = DEFAULT_TENANT;

describe('what is forgotten', () => {
  let b: UndoBench;

  beforeEach(async () => {
    b = await undoBench();
  });

  const days = (count: number): void => b.engine.tools.advance(count * DAY_MS);
  const sweep = () => sweepRetention(b.engine.deps, NEVER);
  const preview = async (rules = DEFAULT_SETTINGS) => (await previewRetention(b.engine.deps, TENANT, rules)).forgotten;
  const idOf = async (text: string): Promise<string> => {
    const all = await b.engine.memories();
    return all.find(({ versions }) => versions.some((one) => one.text === text))?.id ?? '';
  };
  const restore = (id: string) => b.writer.restore(TENANT, id, 1);
  /** All that the ledger and the index have of memories and messages. */
  const everything = async (): Promise<string> => {
    const { ledger, index } = b.engine.deps;
    const memories = await b.engine.memories();
    const lane = await ledger.lanes.find(TENANT, { kind: 'user', id: 'ann' });
    if (lane === null) throw new Error('expected a lane');
    const ids = memories.map(({ id }) => id);
    const events = await ledger.undos.events(TENANT, ids);
    const messages = await ledger.contents.messages(lane.id, 0, 100);
    const thoughts = await ledger.thoughts.list(TENANT, {}, { limit: 100, cursor: null });
    const thought = await Promise.all(
      thoughts.results.map(async ({ id }) => [await ledger.thoughts.plan(id), await ledger.thoughts.answers(id)]),
    );
    return JSON.stringify([memories, events, messages, thought, (await index.page(null, 1_000)).points]);
  };
  const sound = async (): Promise<void> => {
    await expectTrue(b.engine.deps.ledger);
    const { findings } = await examine(b.engine.deps, { depth: 'full', cancel: NEVER });
    expect(findings).toEqual([]);
  };

  it('can be restored for thirty days, of a tenant that has chosen nothing, and is erased then', async () => {
    await b.say('home: Oslo');
    await b.say('pet: cat');
    const id = await idOf('home: Oslo');
    await b.writer.remove(TENANT, id);
    days(29);
    expect(await preview()).toBe(0);
    await sweep();
    expect((await restore(id)).kind).toBe('written');
    await b.writer.remove(TENANT, id);
    days(29);
    await sweep();
    expect(await b.engine.deps.ledger.memories.get(TENANT, id)).toMatchObject({
      versions: [{ text: 'home: Oslo' }, {}],
    });
    days(2);
    expect(await preview()).toBe(1);
    await sweep();
    expect(await preview()).toBe(0);
    expect(await everything()).not.toContain('Oslo');
    expect((await restore(id)).kind).toBe('removed');
    expect(await b.engine.live()).toEqual(['pet: cat']);
    expect(await b.engine.deps.ledger.retention.uncompacted()).toBeNull();
    await sound();
  });

  it('stays in a what-if for as long as that does', async () => {
    const space = spaceOf({ tenant: TENANT, replay: 'rpl_1' });
    const forgotten = async (tenant: typeof TENANT): Promise<string> => {
      const added = await b.writer.add(tenant, {
        ...{ text: 'home: Oslo', metadata: {}, category: null, immutable: false, validFrom: null, expiresAt: null },
        ...{ scope: scope(), pinned: false },
      });
      if (added.kind !== 'written') throw new Error(`expected it to be written, got ${added.kind}`);
      await b.writer.remove(tenant, added.memory.id);
      return added.memory.id;
    };
    const [own, copied] = [await forgotten(TENANT), await forgotten(space)];
    days(31);
    await sweep();
    const textsOf = async (tenant: typeof TENANT, id: string) =>
      JSON.stringify(await b.engine.deps.ledger.memories.get(tenant, id));
    expect(await textsOf(TENANT, own)).not.toContain('Oslo');
    expect(await textsOf(space, copied)).toContain('Oslo');
  });

  it('is kept for ever where the tenant says so', async () => {
    await b.engine.deps.ledger.settings.put(TENANT, {
      ...DEFAULT_SETTINGS,
      retention: { ...DEFAULT_SETTINGS.retention, forgottenDays: null },
    });
    await b.say('home: Oslo');
    const id = await idOf('home: Oslo');
    await b.writer.remove(TENANT, id);
    days(10_000);
    await sweep();
    expect((await restore(id)).kind).toBe('written');
  });

  it('counts from when it was forgotten, and not from when that was said', async () => {
    await b.say('home: Oslo');
    const id = await idOf('home: Oslo');
    days(100);
    await b.writer.remove(TENANT, id);
    await sweep();
    days(20);
    await sweep();
    expect((await restore(id)).kind).toBe('written');
  });

  it('is what was undone as a whole, too: what was made of messages goes, and they stay', async () => {
    const consolidation = await b.say('home: Oslo');
    await b.say('pet: cat');
    const id = await idOf('home: Oslo');
    const { undo } = done(await b.undoer.undo(TENANT, consolidation, { cascade: false, dryRun: false }));
    days(31);
    expect(await preview()).toBe(1);
    await sweep();
    const left = JSON.stringify([
      await b.engine.deps.ledger.memories.get(TENANT, id),
      await b.engine.deps.ledger.undos.events(TENANT, [id]),
      await b.engine.deps.ledger.thoughts.plan(consolidation),
    ]);
    expect(left).not.toContain('Oslo');
    expect((await b.undoer.redo(TENANT, undo?.id ?? '', { dryRun: false })).kind).toBe('removed');
    expect(await b.engine.live()).toEqual(['pet: cat']);
    await sound();
  });

  it('is overwritten by the next sweep where somebody still read what was there before', async () => {
    await b.say('home: Oslo');
    await b.writer.remove(TENANT, await idOf('home: Oslo'));
    days(31);
    const { deps } = b.engine;
    let asked = 0;
    const compact = async () => {
      asked += 1;
      return { done: asked > 1, remains: [] };
    };
    const ledger = { ...deps.ledger, erasures: { ...deps.ledger.erasures, compact } };
    await sweepRetention({ ...deps, ledger }, NEVER);
    expect(await everything()).not.toContain('Oslo');
    await sweepRetention({ ...deps, ledger }, NEVER);
    await sweepRetention({ ...deps, ledger }, NEVER);
    expect(asked).toBe(2);
  });
});
