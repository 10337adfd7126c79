import type { TenantId } from '@slowwave/engine';
import { type CellDirectory, LEAST_SHARE } from '@slowwave/engine/cells';
import { describe, expect, it } from 'vitest';
import { MORNING } from './fixed-tools.ts';

/** Of a directory with the cells a, b and c. */
export function describeShares(directory: () => CellDirectory): void {
  describe('of what a tenant may use on a day', () => {
    const acme = 'acme' as TenantId;
    const until = MORNING + 3_600_000;
    const grant = (cell: string, part: number, now = MORNING) =>
      directory().grantShare(acme, { cell, part, until, after: 0 }, now);
    const parts = async (now = MORNING) =>
      Object.fromEntries((await directory().sharesOf(acme, now)).map(({ cell, part }) => [cell, part]));

    it('lets the first cell have all, until it says that it has less', async () => {
      expect(await parts()).toEqual({ a: 1 });
      expect(await grant('b', 0.5)).toMatchObject({ part: 0, epoch: 1 });
      const less = await grant('a', 0.25);
      expect([less, await parts()]).toMatchObject([
        { part: 0.25, epoch: 1 },
        { a: 1, b: 0 },
      ]);
      if (less !== null) await directory().settleShare(acme, { ...less, part: 0.375 });
      expect(await grant('b', 0.75)).toMatchObject({ part: 0.625, epoch: 2 });
      expect(await parts()).toEqual({ a: 0.375, b: 0.625 });
      expect(await grant('nobody', 0.1)).toBeNull();
    });

    it('does not believe what was said before something else was granted', async () => {
      const [less, more] = [await grant('a', 0.25), await grant('a', 0.5)];
      expect([less?.epoch, more?.epoch]).toEqual([1, 2]);
      if (less !== null) await directory().settleShare(acme, less);
      expect(await parts()).toEqual({ a: 1 });
      expect(await directory().grantShare(acme, { cell: 'a', part: 0.5, until, after: 7 }, MORNING)).toMatchObject({
        epoch: 8,
      });
    });

    it('leaves a cell that is silent what it has until its lease is over, and the least afterwards', async () => {
      const less = await grant('a', 0.75);
      if (less !== null) await directory().settleShare(acme, less);
      const late = until + 3_600_000;
      expect([await parts(until), await parts(late)]).toEqual([{ a: 0.75 }, { a: LEAST_SHARE }]);
      expect((await grant('b', 1, until))?.part).toBe(0.25);
      expect((await directory().grantShare(acme, { cell: 'b', part: 1, until: late, after: 0 }, late))?.part).toBe(
        1 - LEAST_SHARE,
      );
    });

    it('keeps what a lost cell has until its lease is over, and forgets a cell that is removed', async () => {
      const less = await grant('a', 0.75);
      if (less !== null) await directory().settleShare(acme, less);
      await grant('b', 0.125);
      await directory().loseCell('a');
      expect([await parts(), await parts(until + 3_600_000)]).toEqual([{ a: 0.75, b: 0.125 }, { b: LEAST_SHARE }]);
      expect(await directory().removeCell('b')).toEqual([]);
      expect(await parts()).toEqual({ a: 0.75 });
    });
  });
}
