import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { payerOf } from '../ids.ts';
import { budgetWait } from '../models/limits.ts';
import type { Hold, HoldKind, PeerUse, Use } from '../ports/ledger/limits.ts';
import type { CallFor } from '../ports/ledger/usage.ts';
import { dayOf } from '../text/dates.ts';

/**
 * Who uses far more than others of the same tenant do is held: work that asks a model for them waits, until the next day (UTC) or
 * until somebody lets go of it. Nothing is lost, and searches go on. What is usual is the median of a day over all peers, of the busiest
 * of the last seven days; who has always used as much goes by their own days.
 */
const HOLD_DAYS = 7;
/** With fewer peers on a day nothing is usual. */
const PEERS_MIN = 5;
/** Less than this in a day holds nobody, whatever is usual: calls, and tokens. */
const CALLS_MIN = 200;
const TOKENS_MIN = 400_000;

type Deps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** Throws if whoever a call is for is held, or is from now on. Asked right before a call; what is asked for nobody in particular never is. */
export async function checkHolds({ ledger, tools }: Deps, of: CallFor): Promise<void> {
  const { tenant } = of;
  // What-ifs and suites are asked for by whoever runs the tenant.
  if (payerOf(tenant) !== tenant) return;
  const { holdAt } = await ledger.settings.get(tenant);
  if (holdAt === null) return;
  const now = tools.now();
  const day = dayOf(now);
  for (const use of await ledger.limits.uses(tenant, whosOf(of), day)) {
    if (use.hold === 'held') throw heldBack(use, now);
    // What is usual is asked only of those who use enough to be held at all.
    if (use.hold === 'released' || overOf(use, NOTHING, holdAt) === null) continue;
    const usual = await ledger.limits.usual(tenant, { day, days: HOLD_DAYS, peers: PEERS_MIN });
    const peers = usual.find(({ kind }) => kind === use.kind);
    if (peers === undefined || overOf(use, peers, holdAt) === null) continue;
    const own = await ledger.limits.ownUse(tenant, use, { day, days: HOLD_DAYS });
    const over = overOf(use, mostOf(peers, usualOf(own)), holdAt);
    if (over === null) continue;
    await ledger.limits.hold({ ...over, id: tools.id('hld'), tenant, kind: use.kind, who: use.who, day, heldAt: now });
    throw heldBack(use, now);
  }
}

const whosOf = ({ lane, appId, keyId }: CallFor): readonly Pick<Use, 'kind' | 'who'>[] => [
  ...(lane === null ? [] : [{ kind: 'owner', who: lane } as const]),
  ...(appId === null ? [] : [{ kind: 'app', who: appId } as const]),
  ...(keyId === null ? [] : [{ kind: 'key', who: keyId } as const]),
];

/** Which limit is reached; null: none. */
function overOf(
  use: Pick<Use, 'calls' | 'tokens'>,
  usual: Pick<PeerUse, 'calls' | 'tokens'>,
  times: number,
): Pick<Hold, 'measure' | 'used' | 'limit'> | null {
  const limits = {
    calls: Math.max(CALLS_MIN, times * usual.calls),
    tokens: Math.max(TOKENS_MIN, times * usual.tokens),
  };
  for (const measure of ['calls', 'tokens'] as const)
    if (use[measure] >= limits[measure]) return { measure, used: use[measure], limit: Math.ceil(limits[measure]) };
  return null;
}

type Amounts = Pick<Use, 'calls' | 'tokens'>;

const NOTHING: Amounts = { calls: 0, tokens: 0 };

const mostOf = (a: Amounts, b: Amounts): Amounts => ({
  calls: Math.max(a.calls, b.calls),
  tokens: Math.max(a.tokens, b.tokens),
});

/** With fewer days than these nothing is usual for somebody: one day of too much would make the next one usual. */
const OWN_DAYS_MIN = 3;

function usualOf(days: readonly Amounts[]): Amounts {
  if (days.length < OWN_DAYS_MIN) return NOTHING;
  const middle = (of: (day: Amounts) => number): number =>
    days.map(of).sort((a, b) => a - b)[Math.floor((days.length - 1) / 2)] ?? 0;
  return { calls: middle(({ calls }) => calls), tokens: middle(({ tokens }) => tokens) };
}

const NAMES: Readonly<Record<HoldKind, string>> = { owner: 'user', app: 'app', key: 'key' };

const heldBack = ({ kind }: Pick<Use, 'kind'>, now: number): EngineError =>
  new EngineError(
    `the ${NAMES[kind]} that this is for has used many times as much as is usual today and is held; the work waits for the next ` +
      'day (UTC), or until the hold is released (slowwave holds)',
    { code: 'use_held', retryable: true, retryAfterMs: budgetWait(now), countsAsTry: false },
  );

/** Works out what was usual on the days that are over. Once a day is enough. */
export const sweepUsual = ({ ledger, tools }: Deps): Promise<number> =>
  ledger.limits.settleDays(dayOf(tools.now()), HOLD_DAYS);
