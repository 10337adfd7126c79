import { DEFAULT_TENANT, ownerKeyOf, type TenantId } from '@slowwave/engine';
import {
  type AskedMove,
  type CellDirectory,
  directoryBook,
  type Handover,
  type OwnerMove,
  type PlacedOwner,
  SLOTS,
} from '@slowwave/engine/cells';
import { beforeEach, describe, expect, it } from 'vitest';
import { describeShares } from './directory-suite-shares.ts';
import { fixedTools, MORNING } from './fixed-tools.ts';

const CLAIM = { now: MORNING, leaseMs: 1_000, limit: 10 };

/** What every directory of cells keeps to. `open` opens an empty one. */
export function describeDirectory(name: string, open: () => Promise<CellDirectory>): void {
  describe(name, () => {
    const tools = fixedTools();
    let directory: CellDirectory;
    beforeEach(async () => {
      directory = await open();
      for (const cell of ['a', 'b', 'c']) await directory.addCell({ name: cell, url: `http://${cell}` });
    });

    const owner = (id: string): PlacedOwner => {
      const named = { tenant: DEFAULT_TENANT, owner: { kind: 'user', id } } as const;
      return { ...named, key: ownerKeyOf(tools, named) };
    };
    const moveOf = (id: string, destination: string): AskedMove => ({
      ...{ ...owner(id), destination, moveId: tools.id('mov') },
    });
    const book = async () => {
      const read = directoryBook();
      read.apply(await directory.changes(0));
      return read;
    };
    const cellOf = async (id: string): Promise<string> => (await book()).cellOf(owner(id).key);
    const taken = async (now = MORNING): Promise<OwnerMove> => {
      const [move] = await directory.takeMoves({ ...CLAIM, now });
      if (move === undefined) throw new Error('no move was due');
      return move;
    };
    const moved = async (id: string, destination: string): Promise<void> => {
      await directory.askMoves([moveOf(id, destination)]);
      expect(await directory.switchOwner(await taken())).toBe(true);
    };
    const handedOver = async (): Promise<Handover> => {
      await directory.askHandovers([{ from: 0, to: SLOTS - 1, source: 'a', destination: 'b', id: tools.id('hov') }]);
      const [handover] = await directory.takeHandovers(CLAIM);
      if (handover === undefined) throw new Error('no handover was due');
      return handover;
    };

    const homeTo = async (tenant: TenantId, to: string): Promise<void> => {
      const [now, until] = [MORNING, MORNING + 1_000];
      await directory.holdHome(tenant, { until, now });
      expect(await directory.switchHome(tenant, { to, heldUntil: until, now })).toBe(true);
    };

    it('gives all slots to the first cell, which is the home of all tenants', async () => {
      const read = await book();
      expect(read.cells().map((cell) => [cell.name, cell.state])).toEqual([
        ['a', 'open'],
        ['b', 'open'],
        ['c', 'open'],
      ]);
      expect([read.cellsOf(0), read.cellsOf(SLOTS - 1)]).toEqual([['a'], ['a']]);
      expect(read.homeOf('acme' as TenantId)).toEqual({ tenant: 'acme', home: 'a', epoch: 0 });
      expect(await directory.addCell({ name: 'a', url: 'http://elsewhere' })).toBe(false);
    });

    it('says only what changed since an epoch', async () => {
      const before = (await directory.changes(0)).epoch;
      expect(await directory.changes(before)).toEqual({
        ...{ epoch: before, cells: null, ranges: null, exceptions: [], tenants: [] },
      });
      await directory.askMoves([moveOf('ann', 'b')]);
      await directory.raiseTenant('acme' as TenantId);
      const since = await directory.changes(before);
      expect(since).toMatchObject({
        ...{ cells: null, ranges: null, exceptions: [{ key: owner('ann').key, cell: 'a' }] },
        tenants: [{ tenant: 'acme', home: 'a', epoch: 1 }],
      });
      expect(since.epoch).toBeGreaterThan(before);
      await directory.changeCell('b', { url: 'http://new', state: 'draining' });
      expect((await directory.changes(since.epoch)).cells?.[1]).toEqual({
        name: 'b',
        url: 'http://new',
        state: 'draining',
      });
      expect(await directory.changeCell('none', {})).toBe(false);
    });

    it('moves an owner once at a time, and names the destination when it is there', async () => {
      expect(await directory.askMoves([moveOf('ann', 'b'), moveOf('ann', 'c'), moveOf('bob', 'a')])).toBe(1);
      const move = await taken();
      expect(move).toMatchObject({ ...owner('ann'), source: 'a', destination: 'b', state: 'copying', attempt: 1 });
      expect(await cellOf('ann')).toBe('a');
      expect(await directory.switchOwner(move)).toBe(true);
      expect(await cellOf('ann')).toBe('b');
      expect((await directory.moves(10)).oldest).toEqual([]);
      await moved('ann', 'a');
      expect((await book()).cellsOf(Number.parseInt(owner('ann').key.slice(0, 4), 16))).toEqual(['a']);
    });

    it('lets only the newest claim write, and gives a move to others when its lease is over', async () => {
      await directory.askMoves([moveOf('ann', 'b')]);
      const first = await taken();
      expect(await directory.takeMoves({ ...CLAIM, now: MORNING + 999 })).toEqual([]);
      const second = await taken(MORNING + 1_000);
      const copy = { importId: 'imp_1', stamp: 'now' };
      expect(await directory.keepMove({ ...first, state: 'departing', copy }, 0)).toBe(false);
      expect(await directory.keepMove({ ...second, state: 'departing', copy, why: 'so' }, 0)).toBe(true);
      expect(await directory.switchOwner(first)).toBe(false);
      expect(await taken()).toEqual({ ...second, state: 'departing', copy, why: 'so', attempt: 3 });
    });

    it('waits for no claim, hold or change that a clock wrote which was a day ahead', async () => {
      const acme = 'acme' as TenantId;
      const ahead = MORNING + 86_400_000;
      await directory.askMoves([moveOf('ann', 'b'), moveOf('bob', 'b')]);
      for (const move of await directory.takeMoves({ ...CLAIM, now: ahead }))
        if (move.owner.id === 'bob') await directory.keepMove({ ...move, dueAt: ahead + 30_000 }, ahead + 30_000);
      expect(await directory.takeMoves(CLAIM)).toHaveLength(2);
      expect(await directory.takeMoves(CLAIM)).toEqual([]);
      await directory.askHandovers([{ from: 0, to: 9, source: 'a', destination: 'b', id: 'hov_1' }]);
      expect(await directory.takeHandovers({ ...CLAIM, now: ahead })).toHaveLength(1);
      expect(await directory.takeHandovers(CLAIM)).toHaveLength(1);
      expect(await directory.takeHandovers(CLAIM)).toEqual([]);
      const change = (id: string, at: number) => directory.beginChange(acme, { id, until: at + 150_000 }, at);
      await change('one', ahead);
      expect(await directory.holdHome(acme, { until: ahead + 30_000, now: MORNING })).toBe(0);
      expect(await change('two', MORNING)).not.toBeNull();
      expect(await directory.holdHome(acme, { until: MORNING + 30_000, now: MORNING })).toBe(1);
      expect(await change('three', MORNING)).toBeNull();
    });

    it('keeps moves that were given up for whoever asks why, until one is asked for again', async () => {
      await directory.askMoves([moveOf('ann', 'b')]);
      const move = await taken();
      await directory.keepMove({ ...move, state: 'given_up', why: 'b is away' }, 0);
      expect(await directory.takeMoves({ ...CLAIM, now: MORNING + 9_999 })).toEqual([]);
      expect(await directory.moves(10)).toMatchObject({
        counts: { given_up: 1, copying: 0 },
        oldest: [{ why: 'b is away' }],
      });
      expect(await cellOf('ann')).toBe('a');
      expect(await directory.askMoves([moveOf('ann', 'b')])).toBe(1);
      expect((await directory.moves(10)).counts).toMatchObject({ given_up: 0, copying: 1 });
    });

    it('says nothing any more of an owner that is nowhere', async () => {
      await moved('ann', 'b');
      await directory.askMoves([moveOf('ann', 'c')]);
      const first = await taken();
      const second = await taken(MORNING + 1_000);
      expect(await directory.dropMove(first)).toBe(false);
      expect(await cellOf('ann')).toBe('b');
      expect(await directory.dropMove(second)).toBe(true);
      expect([await cellOf('ann'), (await directory.moves(10)).oldest]).toEqual(['a', []]);
    });

    it('forgets owners that their cell does not know, unless they were placed since or are on their way', async () => {
      const seen = async () => (await book()).epoch();
      await directory.askMoves([moveOf('ann', 'b'), moveOf('bob', 'b')]);
      const before = await seen();
      for (const move of await directory.takeMoves({ ...CLAIM, now: MORNING })) await directory.switchOwner(move);
      const ann = [owner('ann').key];
      expect(await directory.vacate('b', ann, before)).toBe(0);
      const left = async (cell: string) => directory.vacate(cell, ann, await seen());
      expect([await left('c'), await left('b'), await left('a')]).toEqual([0, 1, 1]);
      expect([await cellOf('ann'), await cellOf('bob')]).toEqual(['a', 'b']);
      await directory.askMoves([moveOf('bob', 'c')]);
      expect(await directory.vacate('b', null, await seen())).toBe(0);
      await directory.keepMove({ ...(await taken()), state: 'given_up', why: 'c is away' }, 0);
      expect(await directory.vacate('b', null, await seen())).toBe(1);
      expect([await cellOf('bob'), (await directory.moves(10)).oldest]).toEqual(['a', []]);
    });

    it('hands slots over, and keeps those that live in them where they are until they are moved', async () => {
      await moved('cyd', 'b');
      const handover = await handedOver();
      expect((await directory.slotsOf('a')).closed).toEqual([{ from: 0, to: SLOTS - 1 }]);
      expect((await directory.slotsOf('b')).closed).toEqual([{ from: 0, to: SLOTS - 1 }]);
      expect(await directory.keepHandover({ ...handover, state: 'opening' }, 0)).toBe(true);
      expect((await directory.slotsOf('b')).closed).toEqual([]);
      const ann = { ...owner('ann'), moveId: tools.id('mov') };
      expect(await directory.switchSlots({ ...handover, state: 'emptying' }, [ann])).toBe(true);
      expect([await cellOf('ann'), await cellOf('bob'), await cellOf('cyd')]).toEqual(['a', 'b', 'b']);
      expect(await directory.unmovedOf(handover, 'a')).toBe(1);
      expect((await directory.changes(0)).exceptions.filter(({ cell }) => cell !== null)).toHaveLength(1);
      await directory.switchOwner(await taken());
      expect([await cellOf('ann'), await directory.unmovedOf(handover, 'a')]).toEqual(['b', 0]);
      expect(await directory.endHandover({ ...handover, attempt: 0 })).toBe(false);
      expect(await directory.endHandover(handover)).toBe(true);
      expect(await directory.handovers()).toEqual([]);
    });

    it('lets nobody begin anew whose slot changes hands, and keeps exceptions of those on their way', async () => {
      await moved('cyd', 'b');
      await directory.askMoves([moveOf('cyd', 'c')]);
      const handover = await handedOver();
      const seen = (await book()).epoch();
      expect(await directory.vacate('a', [owner('ann').key], seen)).toBe(0);
      expect(await directory.switchSlots({ ...handover, state: 'emptying' }, [])).toBe(true);
      const leads = async () => (await directory.changes(0)).exceptions.filter(({ cell }) => cell !== null);
      expect(await leads()).toMatchObject([{ key: owner('cyd').key, cell: 'b' }]);
      expect(await directory.vacate('b', [owner('ann').key], (await book()).epoch())).toBe(1);
      await directory.switchOwner(await taken());
      expect(await leads()).toMatchObject([{ key: owner('cyd').key, cell: 'c' }]);
    });

    it('closes only the slots that somebody has begun to hand over', async () => {
      const asked = { source: 'a', destination: 'b' };
      await directory.askHandovers([
        { ...asked, from: 0, to: 9, id: 'hov_1' },
        { ...asked, from: 10, to: 19, id: 'hov_2' },
      ]);
      const before = await directory.slotsOf('a');
      expect(before.closed).toEqual([]);
      await directory.takeHandovers({ ...CLAIM, limit: 1 });
      const after = await directory.slotsOf('a');
      expect(after.closed).toEqual([{ from: 0, to: 9 }]);
      expect(after.epoch).toBeGreaterThan(before.epoch);
    });

    it('does not hand slots over twice, or from whom they are not', async () => {
      const asked = { from: 0, to: 9, source: 'a', destination: 'b', id: 'hov_1' };
      expect(await directory.askHandovers([asked, { ...asked, from: 9, to: 10, id: 'hov_2' }])).toBe(1);
      expect(await directory.askHandovers([{ ...asked, from: 20, to: 21, source: 'c', id: 'hov_3' }])).toBe(0);
      const [first] = await directory.takeHandovers(CLAIM);
      const [second] = await directory.takeHandovers({ ...CLAIM, now: MORNING + 1_000 });
      expect([first?.attempt, second?.attempt]).toEqual([1, 2]);
      if (first !== undefined) expect(await directory.switchSlots({ ...first, state: 'emptying' }, [])).toBe(false);
    });

    it('raises the epoch of what a tenant has in common, and remembers who has it', async () => {
      const acme = 'acme' as TenantId;
      expect(await directory.raiseTenant(acme)).toEqual({ tenant: acme, home: 'a', epoch: 1 });
      expect(await directory.raiseTenant(acme)).toEqual({ tenant: acme, home: 'a', epoch: 2 });
      expect(await directory.tenants()).toEqual([{ tenant: acme, home: 'a', epoch: 2 }]);
      await directory.keepCopy(acme, { cell: 'b', epoch: 2 });
      await directory.keepCopy(acme, { cell: 'b', epoch: 1 });
      expect(await directory.copiesOf(acme)).toEqual([{ cell: 'b', epoch: 2 }]);
    });

    describeShares(() => directory);

    it('changes the home of a tenant only while nothing else of it is being changed', async () => {
      const acme = 'acme' as TenantId;
      const change = (id: string) => ({ id, until: MORNING + 100 });
      expect(await directory.beginChange(acme, change('one'), MORNING)).toEqual({ tenant: acme, home: 'a', epoch: 1 });
      const hold = (now: number, until: number) => directory.holdHome(acme, { until, now });
      expect(await hold(MORNING, MORNING + 10)).toBe(1);
      expect(await directory.beginChange(acme, change('two'), MORNING + 9)).toBeNull();
      expect(await directory.beginChange('other' as TenantId, change('of another'), MORNING)).not.toBeNull();
      // Who held it was killed: it may be changed again.
      expect(await directory.beginChange(acme, change('three'), MORNING + 10)).not.toBeNull();
      const late = { to: 'b', heldUntil: MORNING + 10, now: MORNING + 10 };
      expect(await directory.switchHome(acme, late)).toBe(false);
      await directory.endChange(acme, 'one');
      expect(await hold(MORNING + 20, MORNING + 200)).toBe(1);
      // Who changed it was killed: that is over after a while.
      expect(await hold(MORNING + 100, MORNING + 300)).toBe(0);
      const held = { to: 'b', heldUntil: MORNING + 300, now: MORNING + 101 };
      expect(await directory.switchHome(acme, { ...held, heldUntil: MORNING + 200 })).toBe(false);
      expect(await directory.switchHome(acme, held)).toBe(true);
      expect(await directory.switchHome(acme, held)).toBe(false);
      expect(await directory.beginChange(acme, change('four'), MORNING + 102)).toMatchObject({ home: 'b' });
    });

    describe('of a cell that is lost', () => {
      /** A move in a state, as if its mover had come so far. */
      const movedTo = async (id: string, destination: string, state: OwnerMove['state']): Promise<OwnerMove> => {
        await directory.askMoves([moveOf(id, destination)]);
        const move = { ...(await taken()), state, copy: { importId: `imp_${id}`, stamp: 's' } };
        expect(await directory.keepMove(move, MORNING + 1_000)).toBe(true);
        return move;
      };
      const stateOf = async (id: string) =>
        (await directory.moves(100)).oldest.find(({ owner }) => owner.id === id)?.state ?? null;

      it('keeps leading to it, and to nobody else, until its owners begin anew', async () => {
        await directory.askMoves([moveOf('ann', 'b')]);
        await directory.switchOwner(await taken());
        expect(await directory.loseCell('b')).toEqual([]);
        expect(await directory.loseCell('b')).toBeNull();
        const read = await book();
        expect([read.cells().map(({ name }) => name), read.lost().map(({ name }) => name)]).toEqual([
          ['a', 'c'],
          ['b'],
        ]);
        expect([await cellOf('ann'), read.cell('b')?.state]).toEqual(['b', 'lost']);
        expect(await directory.askMoves([moveOf('ann', 'c'), moveOf('bob', 'b')])).toBe(0);
        expect(await directory.addCell({ name: 'b', url: 'http://again' })).toBe(false);
        expect(await directory.leaveBehind('b', [])).toBe(0);
        expect([await cellOf('ann'), (await book()).cell('b')?.state]).toEqual(['a', 'left_behind']);
        expect(await directory.removeCell('b')).toEqual([]);
      });

      it('gives its slots to others when its owners begin anew, and leaves those alone that were saved', async () => {
        await movedTo('ann', 'b', 'departing');
        await directory.loseCell('a');
        expect(await stateOf('ann')).toBe('arriving');
        const half = SLOTS / 2;
        const given = [
          { from: 0, to: half - 1, source: 'a', destination: 'b' },
          { from: half, to: SLOTS - 1, source: 'a', destination: 'c' },
        ];
        expect(await directory.leaveBehind('a', given)).toBe(1);
        expect((await directory.slotsOf('b')).closed).toEqual([{ from: 0, to: SLOTS - 1 }]);
        await directory.switchOwner(await taken(MORNING + 1_000));
        expect(await directory.leaveBehind('a', given)).toBe(0);
        expect((await directory.slotsOf('b')).closed).toEqual([{ from: half, to: SLOTS - 1 }]);
        expect(await cellOf('ann')).toBe('b');
      });

      it('ends its moves: who was copied arrives, who had not left stays, and who had arrived there is lost', async () => {
        const [gone, sure, unsure, begun] = [
          ...[await movedTo('gone', 'b', 'arriving'), await movedTo('sure', 'c', 'arriving')],
          ...[await movedTo('unsure', 'b', 'departing'), await movedTo('begun', 'b', 'copying')],
        ];
        await directory.loseCell('b');
        expect(await Promise.all(['gone', 'sure', 'unsure', 'begun'].map(stateOf))).toEqual([
          ...[null, 'arriving', 'recalling', 'given_up'],
        ]);
        expect(await Promise.all(['gone', 'unsure', 'begun'].map(cellOf))).toEqual(['b', 'a', 'a']);
        // Whoever carried them writes nothing any more, but where the lost cell has no part in it.
        for (const move of [gone, unsure, begun]) expect(await directory.keepMove(move as OwnerMove, 0)).toBe(false);
        expect(await directory.switchOwner(sure as OwnerMove)).toBe(true);
        const recalled = await taken(MORNING + 1);
        expect(recalled).toMatchObject({ state: 'recalling', ...owner('unsure') });
        expect(await directory.switchOwner(recalled)).toBe(true);
        expect(await cellOf('unsure')).toBe('b');
      });

      it('opens slots again that were on their way to it, and leaves those that were on their way from it', async () => {
        const asked = { from: 0, to: 9, source: 'a', destination: 'b' };
        await directory.askHandovers([
          { ...asked, id: 'hov_1' },
          { ...asked, from: 20, to: 29, id: 'hov_2' },
        ]);
        const [first] = await directory.takeHandovers({ ...CLAIM, limit: 1 });
        if (first !== undefined) await directory.keepHandover({ ...first, state: 'opening' }, MORNING + 1_000);
        await directory.loseCell('b');
        expect((await directory.handovers()).map(({ state }) => state)).toEqual(['reopening', 'reopening']);
        expect((await directory.slotsOf('a')).closed).toEqual([]);
        await directory.loseCell('a');
        expect(await directory.handovers()).toEqual([]);
        expect(await directory.askHandovers([{ ...asked, destination: 'c', id: 'hov_3' }])).toBe(0);
      });

      it('makes the cell with the newest copy the home of its tenants, and says if that is behind', async () => {
        const [acme, beta, gone] = ['acme', 'beta', 'gone'] as TenantId[];
        for (const tenant of [acme, acme, gone]) await directory.raiseTenant(tenant as TenantId);
        await directory.keepCopy(acme as TenantId, { cell: 'b', epoch: 1 });
        await directory.keepCopy(acme as TenantId, { cell: 'c', epoch: 2 });
        await directory.keepCopy(beta as TenantId, { cell: 'c', epoch: 0 });
        expect(await directory.loseCell('a')).toEqual([
          { tenant: 'acme', home: 'c', isBehind: false },
          { tenant: 'beta', home: 'c', isBehind: false },
          { tenant: 'gone', home: 'b', isBehind: true },
        ]);
        const read = await book();
        expect([read.homeOf(acme as TenantId), read.homeOf('new' as TenantId)]).toMatchObject([
          { home: 'c', epoch: 3 },
          { home: 'b', epoch: 0 },
        ]);
      });
    });

    it('removes a cell only when nothing leads to it', async () => {
      await homeTo('acme' as TenantId, 'b');
      await directory.askMoves([moveOf('ann', 'b')]);
      expect(await directory.removeCell('a')).toContain('slots');
      expect([...(await directory.removeCell('b'))].sort()).toEqual(['moves', 'tenants']);
      expect(await directory.removeCell('c')).toEqual([]);
      expect((await book()).cell('c')).toBeNull();
    });
  });
}
