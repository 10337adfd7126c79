import type { ShareList, ShareView } from '@slowwave/contracts';
import { DAY_MS, dateTextOf, dayOf, isoOf, type TenantId } from '@slowwave/engine';
import type { ShareCells, ShareOfCell } from '@slowwave/engine/cells';
import { type AskCell, answeredBy } from './ask-cell.ts';

/** Shares of daily limits, as the API of cells has them. */
export function httpShares(ask: AskCell): ShareCells & { wanting(cell: string): Promise<readonly TenantId[]> } {
  const listed = async (cell: string, query: Readonly<Record<string, string>>): Promise<readonly ShareView[]> =>
    answeredBy<ShareList>(cell, await ask(cell, { method: 'GET', path: PATH, query })).results;
  return {
    read: async (cell, tenant) => {
      const [view] = await listed(cell, { tenant });
      if (view === undefined) throw new Error(`expected cell ${cell} to answer with its share of ${tenant}, got none`);
      return shareFrom(view);
    },
    tell: async (cell, tenant, { epoch, part, until, day, elsewhere, isLast }) => {
      const times = { until: isoOf(until), day: dateTextOf(day * DAY_MS) };
      const body = { tenant, epoch, part, ...times, elsewhere, is_last: isLast };
      return shareFrom(answeredBy(cell, await ask(cell, { method: 'PUT', path: PATH, body })));
    },
    wanting: async (cell) => (await listed(cell, {})).map(({ tenant }) => tenant as TenantId),
  };
}

const PATH = '/v1/cell/shares';

const shareFrom = ({ epoch, part, until, used, day, wants }: ShareView): ShareOfCell => ({
  ...{ epoch, part, used, wants },
  until: until === null ? null : Date.parse(until),
  day: dayOf(Date.parse(day)),
});
