import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { payerOf } from '../ids.ts';
import { budgetWait } from '../models/limits.ts';
import type { CallFor, Hold, HoldKind, Room, Use } from '../ports/ledger/usage.ts';
import type { Tools } from '../ports/tools.ts';
import type { TenantSettings } from '../settings.ts';
import { dayOf } from '../text/dates.ts';
import type { Millis, TenantId } from '../words.ts';

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

/** Whose call it is, and what their tenant has chosen. */
interface Asking {
  readonly of: CallFor;
  readonly rules: Pick<TenantSettings, 'holdAt'>;
}

/**
 * Notes a call right before it is sent; throws if whoever it is for is held, or is from now on. What is asked for nobody in particular
 * never is. `note` says whether there was room: only where there was none it is looked who has used how much.
 */
export async function noteUnlessHeld(
  deps: Deps,
  asking: Asking,
  note: (rooms: readonly Room[]) => Promise<boolean>,
): Promise<void> {
  while (!(await note(roomsFor(deps, asking)))) await checkHolds(deps, asking);
}

/** Throws if whoever a call is for is held, or is from now on. */
export async function checkHolds(deps: Deps, { of, rules: { holdAt } }: Asking): Promise<void> {
  const { ledger, tools } = deps;
  const { tenant } = of;
  const whos = whosOf(of);
  if (holdAt === null || whos.length === 0) return;
  const now = tools.now();
  const day = dayOf(now);
  for (const use of await ledger.limits.uses(tenant, whos, day)) {
    if (use.hold === 'held') throw heldBack(use, now);
    // What is usual is asked only of those who use enough to be held at all.
    if (use.hold === 'released' || overOf(use, NOTHING, holdAt) === null) continue;
    const usual = await usualFor(deps, { tenant, use, day, holdAt });
    const over = overOf(use, usual, holdAt);
    keepUsual(tools, keyOf(tenant, use, day), { ...usual, at: now });
    if (over === null) continue;
    await ledger.limits.hold({ ...over, id: tools.id('hld'), tenant, kind: use.kind, who: use.who, day, heldAt: now });
    throw heldBack(use, now);
  }
}

interface Looking {
  readonly tenant: TenantId;
  readonly use: Use;
  readonly day: number;
  readonly holdAt: number;
}

/** What is usual for somebody: as much as among peers, or as they always did, where that is more. */
async function usualFor({ ledger }: Deps, { tenant, use, day, holdAt }: Looking): Promise<Amounts> {
  const usual = await ledger.limits.usual(tenant, { day, days: HOLD_DAYS, peers: PEERS_MIN });
  const peers = usual.find(({ kind }) => kind === use.kind) ?? ANYTHING;
  if (overOf(use, peers, holdAt) === null) return { calls: peers.calls, tokens: peers.tokens };
  return mostOf(peers, usualOf(await ledger.limits.ownUse(tenant, use, { day, days: HOLD_DAYS })));
}

/**
 * What is usual for those who use much, as it was looked up last: it follows from days that are over. Who uses more than that comes to is
 * looked at anew, so that nobody is held by it; who turns out to have less room than a minute ago is held a minute later.
 */
const USUAL = new WeakMap<Tools, Map<string, KnownUsual>>();
const USUAL_KEPT_MS = 60_000;
/** Of so many of them at most; beyond that all are looked up again. */
const USUAL_KEPT_MAX = 10_000;

interface KnownUsual extends Amounts {
  readonly at: Millis;
}

const keyOf = (tenant: TenantId, { kind, who }: Pick<Use, 'kind' | 'who'>, day: number): string =>
  JSON.stringify([tenant, kind, who, day]);

function keepUsual(tools: Tools, key: string, usual: KnownUsual): void {
  const known = USUAL.get(tools) ?? new Map<string, KnownUsual>();
  USUAL.set(tools, known);
  if (known.size >= USUAL_KEPT_MAX) known.clear();
  known.set(key, usual);
}

function roomsFor({ tools }: Deps, { of, rules: { holdAt } }: Asking): readonly Room[] {
  if (holdAt === null) return [];
  const now = tools.now();
  const day = dayOf(now);
  return whosOf(of).map((who) => {
    const known = USUAL.get(tools)?.get(keyOf(of.tenant, who, day));
    const isFresh = known !== undefined && Math.abs(now - known.at) < USUAL_KEPT_MS;
    return { ...who, day, ...limitsFor(isFresh ? known : NOTHING, holdAt) };
  });
}

/** What-ifs and suites are asked for by whoever runs the tenant. */
function whosOf({ tenant, lane, appId, keyId }: CallFor): readonly Pick<Use, 'kind' | 'who'>[] {
  if (payerOf(tenant) !== tenant) return [];
  return [
    ...(lane === null ? [] : [{ kind: 'owner', who: lane } as const]),
    ...(appId === null ? [] : [{ kind: 'app', who: appId } as const]),
    ...(keyId === null ? [] : [{ kind: 'key', who: keyId } as const]),
  ];
}

/** Which limit is reached; null: none. */
function overOf(use: Amounts, usual: Amounts, times: number): Pick<Hold, 'measure' | 'used' | 'limit'> | null {
  const limits = limitsFor(usual, times);
  for (const measure of ['calls', 'tokens'] as const)
    if (use[measure] >= limits[measure]) return { measure, used: use[measure], limit: limits[measure] };
  return null;
}

const limitsFor = (usual: Amounts, times: number): Amounts => ({
  calls: limitOf(CALLS_MIN, times * usual.calls),
  tokens: limitOf(TOKENS_MIN, times * usual.tokens),
});

const limitOf = (least: number, limit: number): number =>
  Math.min(Math.ceil(Math.max(least, limit)), Number.MAX_SAFE_INTEGER);

type Amounts = Pick<Use, 'calls' | 'tokens'>;

const NOTHING: Amounts = { calls: 0, tokens: 0 };
/** Of whom nobody knows what is usual. */
const ANYTHING: Amounts = { calls: Number.MAX_SAFE_INTEGER, tokens: Number.MAX_SAFE_INTEGER };

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
    `the ${NAMES[kind]} of this work has used many times the usual amount today and is held; the work waits for the next ` +
      'day (UTC), or until the hold is released (slowwave holds)',
    { code: 'use_held', retryable: true, retryAfterMs: budgetWait(now), countsAsTry: false },
  );

/** Works out what was usual on the days that are over. Once a day is enough. */
export const sweepUsual = ({ ledger, tools }: Deps): Promise<number> =>
  ledger.limits.settleDays(dayOf(tools.now()), HOLD_DAYS);
