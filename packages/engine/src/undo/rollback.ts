import type { Life } from '../memories/dependents.ts';
import type { Ledger } from '../ports/ledger/ledger.ts';
import type { UndoResult } from '../ports/undoer.ts';
import { isoOf } from '../text/dates.ts';
import type { Millis, Owner, TenantId } from '../words.ts';
import { type Decision, livesOf, takenBack } from './decision.ts';

/**
 * Everything of an owner that was recorded after a time, undos included: what an undo took back since then is there
 * again. What was applied since then goes as a whole, by whatever clock its events were recorded.
 */
export async function decideRollback(
  ledger: Ledger,
  { tenant, owner }: { tenant: TenantId; owner: Owner },
  to: Millis,
): Promise<Decision | UndoResult> {
  const lane = (await ledger.lanes.find(tenant, owner))?.id;
  if (lane === undefined) return { kind: 'not_found' };
  const earlier = await ledger.undos.ofLane(lane);
  const consolidations = await ledger.undos.appliedAfter(lane, to);
  const changed = await ledger.undos.touched(tenant, { lane, after: to });
  const applied = await ledger.undos.touched(tenant, { consolidations });
  const lives = await livesOf(ledger, tenant, [...new Set([...changed, ...applied])]);
  const undos = earlier.filter(({ at }) => at > to).map(({ id }) => id);
  const since = { to, consolidations: new Set(consolidations) };
  return {
    lane,
    earlier,
    owner,
    what: { kindOfUndo: 'rollback', consolidations, undos, to },
    lives: lives.flatMap((life) => takenBack([life], ({ revision }) => revision >= firstSince(life, since))),
    statements: await ledger.graph.writtenAfter(lane, to),
    dependents: [],
    actor: 'rollback',
    reason: `rolled back to ${isoOf(to)}`,
  };
}

/** The first event of a memory after a time. All that follow it go with it, whatever clock they were recorded by. */
function firstSince(
  { events }: Life,
  { to, consolidations }: { to: Millis; consolidations: ReadonlySet<string> },
): number {
  const first = events.find(
    ({ recordedAt, consolidationId }) => recordedAt > to || consolidations.has(consolidationId ?? ''),
  );
  return first?.revision ?? Number.POSITIVE_INFINITY;
}
