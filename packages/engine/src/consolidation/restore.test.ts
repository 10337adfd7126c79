import { done, undoBench } from '@slowwave/engine-testing';
import { describe, expect, it } from 'vitest';
import { DEFAULT_TENANT } from '../words.ts';

const TENANT = DEFAULT_TENANT;
const ALL = { cascade: true, dryRun: false };

describe('restoring a version', () => {
  it('says it again now, with its details, also where the memory is deleted or undone', async () => {
    const b = await undoBench();
    const con = await b.say('home: Oslo');
    const [{ id = '' } = {}] = await b.engine.memories();
    await b.writer.change(TENANT, id, { text: 'home: Rome', category: 'place' });
    b.engine.tools.advance(1_000);
    expect(await b.writer.restore(TENANT, id, 1)).toMatchObject({ kind: 'written', memory: { revision: 3 } });
    expect(await b.engine.live()).toEqual(['home: Oslo']);
    await b.writer.remove(TENANT, id);
    b.engine.tools.advance(1_000);
    await b.writer.restore(TENANT, id, 2);
    expect(await b.engine.live()).toEqual(['home: Rome']);
    const [memory] = await b.engine.memories();
    expect(memory?.versions.at(-1)).toMatchObject({ details: { category: 'place' }, validFrom: b.engine.tools.now() });
    expect(await b.found('Rome')).toEqual(['home: Rome']);
    done(await b.undoer.undo(TENANT, con, ALL));
    expect(await b.engine.live()).toEqual([]);
    await b.writer.restore(TENANT, id, 1);
    expect(await b.engine.live()).toEqual(['home: Oslo']);
  });

  it('is refused for an unknown version or memory, and where what holds is immutable', async () => {
    const b = await undoBench();
    await b.say('home: Oslo');
    const [{ id = '' } = {}] = await b.engine.memories();
    expect(await b.writer.restore(TENANT, id, 9)).toEqual({ kind: 'no_version' });
    expect(await b.writer.restore(TENANT, 'mem_unknown', 1)).toEqual({ kind: 'not_found' });
    await b.writer.change(TENANT, id, { text: 'home: Rome', immutable: true });
    expect(await b.writer.restore(TENANT, id, 1)).toEqual({ kind: 'immutable' });
    expect(await b.writer.restore(TENANT, id, 2)).toMatchObject({ kind: 'written' });
  });
});
