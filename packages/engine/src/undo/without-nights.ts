import type { Ledger } from '../ports/ledger/ledger.ts';
import type { UndoResult } from '../ports/writers.ts';
import type { LaneId, Owner, TenantId } from '../words.ts';
import { type Decision, livesTouchedBy, takeBack, takenBack, type UndoDeps } from './undo.ts';

const PAGE = 100;

/** What would be remembered of an owner who had never slept. Nothing is changed: no model is asked, and what came later counts. */
export function withoutNights(
  deps: UndoDeps,
  { tenant, owner }: { readonly tenant: TenantId; readonly owner: Owner },
): Promise<UndoResult> {
  return takeBack(deps, { tenant, dryRun: true }, () => decide(deps.ledger, { tenant, owner }));
}

async function decide(
  ledger: Ledger,
  { tenant, owner }: { readonly tenant: TenantId; readonly owner: Owner },
): Promise<Decision | UndoResult> {
  const lane = (await ledger.lanes.find(tenant, owner))?.id;
  if (lane === undefined) return { kind: 'not_found' };
  const nights = await appliedNights(ledger, { tenant, owner, lane });
  const ofNights = new Set(nights);
  const lives = nights.length === 0 ? [] : await livesTouchedBy(ledger, tenant, nights);
  return {
    lane,
    earlier: await ledger.undos.ofLane(lane),
    owner,
    what: { kindOfUndo: 'undo', consolidations: nights, undos: [], to: null },
    lives: takenBack(lives, (event) => event.kind !== 'UNDO' && ofNights.has(event.consolidationId ?? '')),
    statements: 0,
    dependents: [],
    actor: 'undo',
    reason: 'as if there had been no nights',
  };
}

async function appliedNights(
  ledger: Ledger,
  { tenant, owner, lane }: { readonly tenant: TenantId; readonly owner: Owner; readonly lane: LaneId },
): Promise<readonly string[]> {
  const filter = { state: 'applied', ...(owner.kind === 'user' && { userId: owner.id }) } as const;
  const found: string[] = [];
  for (let cursor: string | null = null; ; ) {
    const page = await ledger.nights.list(tenant, filter, { limit: PAGE, cursor });
    found.push(...page.results.filter((night) => night.lane === lane && !night.undone).map(({ id }) => id));
    cursor = page.nextCursor;
    if (cursor === null) return found;
  }
}
