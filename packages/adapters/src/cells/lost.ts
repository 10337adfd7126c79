import {
  afterLoss,
  type NewHome,
  type OwnerMove,
  type PlannedHandover,
  type SlotRange,
  type TenantPlace,
  withGiven,
} from '@slowwave/engine/cells';
import { all, allAs, counted, run, type Script } from '../ledger/script.ts';
import {
  cells,
  DROP_EXCEPTIONS,
  directory,
  livingCells,
  locked,
  place,
  raisedLayout,
  ranges,
  saveRanges,
} from './layout.ts';
import { moveOf, savedMove } from './moves.ts';
import { raiseTenant } from './tenants.ts';

export function* loseCell(name: string): Script<readonly NewHome[] | null> {
  yield* locked();
  const living = yield* livingCells();
  if (living.every((cell) => cell.name !== name)) return null;
  yield* raisedLayout();
  yield* run("UPDATE cells SET state = 'lost' WHERE name = @name", { name });
  for (const move of yield* allAs(moveOf, SELECT_MOVES_WITH, { name })) yield* endWithout(move, name);
  yield* run("DELETE FROM handovers WHERE source = @name AND state <> 'emptying'", { name });
  yield* run(REOPEN_HANDOVERS, { name });
  const wasFirst = living[0]?.name === name;
  const homeless = yield* all<TenantPlace & { readonly has: string | null; readonly copied: number | null }>(
    SELECT_HOMELESS,
    { name, wasFirst: Number(wasFirst) },
  );
  const other = living.find((cell) => cell.name !== name)?.name ?? '';
  const homes: NewHome[] = [];
  for (const { tenant, epoch, has, copied } of homeless) {
    const { home } = yield* raiseTenant(tenant, has ?? other);
    homes.push({ tenant, home, isBehind: copied === null || copied < epoch });
  }
  return homes;
}

const SELECT_MOVES_WITH = `
  SELECT * FROM moves WHERE (source = @name OR destination = @name) AND state <> 'given_up' ORDER BY id`;

/** What whoever carries the move does from now on is not written any more. */
function* endWithout(move: OwnerMove, lost: string): Script<void> {
  const next = afterLoss(move, lost);
  if (next === 'switched') {
    yield* run('DELETE FROM moves WHERE id = @id', { id: move.id });
    yield* place(move.key, move.destination);
    return;
  }
  yield* run('UPDATE moves SET attempt = attempt + 1 WHERE id = @id', { id: move.id });
  yield* savedMove({ ...next, attempt: move.attempt + 1, dueAt: 0 }, 0);
}

/** Slots that were on their way to a lost cell stay where they are: their source may have closed them. */
const REOPEN_HANDOVERS = `
  UPDATE handovers SET state = 'reopening', attempt = attempt + 1, tries = 0, due_at = 0, leased_until = 0
  WHERE destination = @name AND state IN ('closing', 'opening')`;

/** Tenants without a home, each with the cell that has the newest copy of what it has in common. */
const SELECT_HOMELESS = `
  WITH homeless AS (
    SELECT tenant, home, epoch FROM tenants WHERE home = @name
    UNION ALL
    SELECT DISTINCT c.tenant, @name, 0 FROM copies c
    WHERE @wasFirst = 1 AND NOT EXISTS (SELECT 1 FROM tenants t WHERE t.tenant = c.tenant)
  ), kept AS (
    SELECT k.tenant, k.cell, k.epoch, row_number() OVER (PARTITION BY k.tenant ORDER BY k.epoch DESC, c.added) AS place
    FROM copies k JOIN cells c ON c.name = k.cell WHERE c.state IN ('open', 'draining')
  )
  SELECT h.tenant, h.home, h.epoch, k.cell AS has, k.epoch AS copied
  FROM homeless h LEFT JOIN kept k ON k.tenant = h.tenant AND k.place = 1 ORDER BY h.tenant`;

export function* leaveBehind(name: string, given: readonly PlannedHandover[]): Script<number> {
  yield* locked();
  const open = yield* counted("SELECT count(*) AS count FROM moves WHERE source = @name AND state <> 'given_up'", {
    name,
  });
  const isLostNow = (yield* cells()).some((cell) => cell.name === name && cell.state === 'lost');
  if (open > 0 || !isLostNow) return open;
  yield* raisedLayout();
  let next: readonly SlotRange[] = yield* ranges();
  for (const { from, to, destination } of given) next = withGiven(next, { from, to }, destination);
  yield* saveRanges(next);
  const { epoch } = yield* directory();
  yield* run('UPDATE exceptions SET cell = NULL, epoch = @epoch WHERE cell = @name', { name, epoch });
  for (const { from, to, destination } of given) yield* run(DROP_EXCEPTIONS, { from, to, destination, epoch });
  yield* run("DELETE FROM moves WHERE state = 'given_up' AND (source = @name OR destination = @name)", { name });
  yield* run('DELETE FROM copies WHERE cell = @name', { name });
  yield* run("UPDATE cells SET state = 'left_behind' WHERE name = @name", { name });
  return 0;
}
