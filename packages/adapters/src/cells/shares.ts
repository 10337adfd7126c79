import type { Millis, TenantId } from '@slowwave/engine';
import { type AskedShare, granted, isLost, type KeptShare, partAssumed } from '@slowwave/engine/cells';
import { all, run, type Script } from '../ledger/script.ts';
import { cells, livingCells, locked } from './layout.ts';

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
  for (const one of known) if (one.epoch === 0) yield* run(UPSERT, { tenant, ...one });
  yield* run(UPSERT, { tenant, ...kept });
  return told;
}

export function* settleShare(tenant: TenantId, { cell, epoch, part, until }: KeptShare): Script<void> {
  const text = `UPDATE shares SET part = @part, until = @until WHERE tenant = @tenant AND cell = @cell AND epoch = @epoch`;
  yield* run(text, { tenant, cell, epoch, part, until });
}

const UPSERT = `
  INSERT INTO shares (tenant, cell, epoch, part, until) VALUES (@tenant, @cell, @epoch, @part, @until)
  ON CONFLICT (tenant, cell) DO UPDATE SET epoch = excluded.epoch, part = excluded.part, until = excluded.until`;
