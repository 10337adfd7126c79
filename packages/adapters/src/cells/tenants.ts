import type { Millis, TenantId } from '@slowwave/engine';
import {
  type AskedShare,
  afterLoss,
  granted,
  isLost,
  type KeptShare,
  type NewHome,
  type OwnerMove,
  type PlannedHandover,
  partAssumed,
  type SlotRange,
  type TenantChange,
  type TenantPlace,
  withGiven,
} from '@slowwave/engine/cells';
import { all, allAs, counted, first, firstAs, run, type Script } from '../ledger/script.ts';
import {
  cells,
  DROP_EXCEPTIONS,
  directory,
  livingCells,
  locked,
  place,
  raised,
  raisedLayout,
  ranges,
  saveRanges,
} from './layout.ts';
import { isOver, moveOf, savedMove } from './moves.ts';

/** `home`: from now on that is its home. */
export function* raiseTenant(tenant: TenantId, home: string | null): Script<TenantPlace> {
  yield* locked();
  const before = yield* firstAs(tenantOf, 'SELECT * FROM tenants WHERE tenant = @tenant', { tenant });
  const epoch = yield* raised();
  const place = {
    ...{ tenant, epoch: (before?.epoch ?? 0) + 1 },
    home: home ?? before?.home ?? (yield* livingCells())[0]?.name ?? '',
  };
  yield* run(UPSERT_TENANT, { ...place, changedAt: epoch });
  return place;
}

export function* beginChange(tenant: TenantId, { id, until }: TenantChange, now: Millis): Script<TenantPlace | null> {
  yield* locked();
  const held = yield* first(SELECT_HELD, { tenant, now });
  if (held !== null) return null;
  yield* run('INSERT INTO changes (id, tenant, until) VALUES (@id, @tenant, @until)', { id, tenant, until });
  return yield* raiseTenant(tenant, null);
}

const SELECT_HELD = `SELECT tenant FROM tenants WHERE tenant = @tenant AND NOT ${isOver('held_until')}`;

export function* endChange(tenant: TenantId, id: string): Script<TenantPlace> {
  yield* run('DELETE FROM changes WHERE id = @id', { id });
  return yield* raiseTenant(tenant, null);
}

export function* holdHome(tenant: TenantId, { until, now }: { until: Millis; now: Millis }): Script<number> {
  yield* raiseTenant(tenant, null);
  yield* run('UPDATE tenants SET held_until = @until WHERE tenant = @tenant', { tenant, until });
  yield* run(`DELETE FROM changes WHERE tenant = @tenant AND ${isOver('until')}`, { tenant, now });
  return yield* counted('SELECT count(*) AS count FROM changes WHERE tenant = @tenant', { tenant });
}

export function* switchHome(
  tenant: TenantId,
  { to, heldUntil, now }: { to: string; heldUntil: Millis; now: Millis },
): Script<boolean> {
  yield* locked();
  const text =
    'UPDATE tenants SET held_until = 0 WHERE tenant = @tenant AND held_until = @heldUntil AND held_until > @now';
  if ((yield* run(text, { tenant, heldUntil, now })) === 0) return false;
  yield* raiseTenant(tenant, to);
  return true;
}

const UPSERT_TENANT = `
  INSERT INTO tenants (tenant, home, epoch, changed_at) VALUES (@tenant, @home, @epoch, @changedAt)
  ON CONFLICT (tenant) DO UPDATE SET home = excluded.home, epoch = excluded.epoch, changed_at = excluded.changed_at`;

export const tenantOf = ({ tenant, home, epoch }: TenantPlace): TenantPlace => ({ tenant, home, epoch });

export const UPSERT_COPY = `
  INSERT INTO copies (tenant, cell, epoch) VALUES (@tenant, @cell, @epoch)
  ON CONFLICT (tenant, cell) DO UPDATE SET epoch = excluded.epoch
  WHERE copies.epoch <= excluded.epoch`;

export function* sharesOf(tenant: TenantId, now: Millis): Script<readonly KeptShare[]> {
  const rows = yield* all<KeptShare>(
    'SELECT cell, epoch, part, until FROM shares WHERE tenant = @tenant ORDER BY cell',
    {
      tenant,
    },
  );
  const [first] = yield* livingCells();
  if (rows.length === 0) return first === undefined ? [] : [{ cell: first.name, epoch: 0, part: 1, until: null }];
  const lost = new Set((yield* cells()).filter(isLost).map(({ name }) => name));
  return rows
    .filter(({ cell, until }) => !lost.has(cell) || (until !== null && partAssumed({ part: 1, until }, now) === 1))
    .map((row) => ({ ...row, part: partAssumed(row, now) }));
}

export function* grantShare(tenant: TenantId, asked: AskedShare, now: Millis): Script<KeptShare | null> {
  yield* locked();
  if ((yield* livingCells()).every(({ name }) => name !== asked.cell)) return null;
  const known = yield* sharesOf(tenant, now);
  const { told, kept } = granted(known, asked, now);
  // The first has had all of it until now.
  for (const one of known) if (one.epoch === 0) yield* run(UPSERT_SHARE, { tenant, ...one });
  yield* run(UPSERT_SHARE, { tenant, ...kept });
  return told;
}

export function* settleShare(tenant: TenantId, { cell, epoch, part, until }: KeptShare): Script<void> {
  const text = `UPDATE shares SET part = @part, until = @until WHERE tenant = @tenant AND cell = @cell AND epoch = @epoch`;
  yield* run(text, { tenant, cell, epoch, part, until });
}

const UPSERT_SHARE = `
  INSERT INTO shares (tenant, cell, epoch, part, until) VALUES (@tenant, @cell, @epoch, @part, @until)
  ON CONFLICT (tenant, cell) DO UPDATE SET epoch = excluded.epoch, part = excluded.part, until = excluded.until`;

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
