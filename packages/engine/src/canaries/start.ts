import type { EngineDeps } from '../deps.ts';
import type { Canary, CanaryStep, NewCanary, UndoBudget } from '../ports/ledger/canaries.ts';
import { changedRules, changesFrom, storedChanges, type WhatIfChanges } from '../replays/in-space.ts';
import type { TenantSettings } from '../settings.ts';
import { whyGated } from '../suites/gate.ts';
import type { JsonObject, TenantId } from '../words.ts';

type Deps = Pick<EngineDeps, 'ledger' | 'tools'>;

const HOUR_MS = 3_600_000;

/** A day and a half until everybody has the changes, where enough is said. */
export const CANARY_STEPS: readonly CanaryStep[] = [
  { share: 1, minMs: 2 * HOUR_MS, minConsolidations: 50 },
  { share: 10, minMs: 6 * HOUR_MS, minConsolidations: 200 },
  { share: 50, minMs: 12 * HOUR_MS, minConsolidations: 500 },
  { share: 100, minMs: 24 * HOUR_MS, minConsolidations: 500 },
];

export const NO_BUDGET: UndoBudget = { calls: null, tokens: null, cost: null };

interface AskedCanary extends Pick<NewCanary, 'tenant' | 'steps' | 'bounds' | 'undo' | 'budget'> {
  readonly changes: WhatIfChanges;
}

/** null: the tenant has one that is open. */
export async function startCanary({ ledger, tools }: Deps, { changes, ...asked }: AskedCanary): Promise<Canary | null> {
  const id = tools.id('cny');
  const canary = { ...asked, id, changes: storedChanges(changes), createdAt: tools.now() };
  return (await ledger.canaries.create(canary)) ? ledger.canaries.get(asked.tenant, id) : null;
}

type Ended =
  | { readonly kind: 'done'; readonly canary: Canary }
  | { readonly kind: 'not_found' }
  /** It is in a state in which that cannot be done. */
  | { readonly kind: 'refused'; readonly canary: Canary };

interface Which {
  readonly tenant: TenantId;
  readonly id: string;
}

/** Nothing is consolidated with its changes any more, and what it wrote stays. */
export const stopCanary = (deps: Deps, which: Which): Promise<Ended> =>
  ended(deps, which, ({ id, state }) => {
    if (state !== 'running' && state !== 'done' && state !== 'halted') return Promise.resolve(false);
    const now = deps.tools.now();
    return deps.ledger.canaries.move(id, { from: state, to: 'stopped', dueAt: now, finishedAt: now });
  });

type PromotedCanary =
  | Ended
  | { readonly kind: 'to_set'; readonly changes: readonly ConfiguredChange[] }
  | { readonly kind: 'gated'; readonly why: string };

interface Promoting {
  /** What no setting of the tenant has is configured already. */
  readonly isSet: boolean;
  /** A passed run of the suite of the tenant's gate; null: none is named. */
  readonly runId: string | null;
}

export async function promoteCanary(deps: Deps, which: Which, { isSet, runId }: Promoting): Promise<PromotedCanary> {
  const canary = await deps.ledger.canaries.get(which.tenant, which.id);
  const changes = canary === null ? [] : configuredIn(canary.changes);
  if (changes.length > 0 && !isSet) return { kind: 'to_set', changes };
  const why = canary === null ? null : await whyNotPromoted(deps, canary, runId);
  if (why !== null) return { kind: 'gated', why };
  return ended(deps, which, (found) =>
    found.state === 'running' || found.state === 'done' ? promote(deps, found) : Promise.resolve(false),
  );
}

/** What it wrote is undone and consolidated again. One that is being undone, or waits for its budget, gets this budget. */
export const undoCanary = (deps: Deps, which: Which, budget: UndoBudget | null): Promise<Ended> =>
  ended(deps, which, ({ id, state }) => {
    if (state === 'undone' || state === 'promoted') return Promise.resolve(false);
    const how = { dueAt: deps.tools.now(), finishedAt: null, ...(budget !== null && { budget }) };
    return deps.ledger.canaries.move(id, { from: state, to: 'undoing', ...how, waiting: null });
  });

async function ended(
  { ledger }: Deps,
  { tenant, id }: Which,
  end: (canary: Canary) => Promise<boolean>,
): Promise<Ended> {
  const canary = await ledger.canaries.get(tenant, id);
  if (canary === null) return { kind: 'not_found' };
  const isDone = await end(canary);
  const after = (await ledger.canaries.get(tenant, id)) ?? canary;
  return { kind: isDone ? 'done' : 'refused', canary: after };
}

/** Changes that no setting of a tenant has: they are set where the service is configured, or in each request. */
const CONFIGURED = ['mode', 'recallPerFact', 'near'] as const satisfies readonly (keyof WhatIfChanges)[];
export type ConfiguredChange = (typeof CONFIGURED)[number];

/** What of the changes the tenant's settings cannot hold. */
const configuredIn = (changes: JsonObject): readonly ConfiguredChange[] =>
  CONFIGURED.filter((name) => changesFrom(changes)[name] !== undefined);

export const isSettable = (changes: JsonObject): boolean => configuredIn(changes).length === 0;

/** What the tenant's gate misses before the changes may become its settings; null: nothing. */
export async function whyNotPromoted(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  canary: Canary,
  runId: string | null,
): Promise<string | null> {
  const before = await deps.ledger.settings.get(canary.tenant);
  return whyGated(deps, canary.tenant, { before, now: promotedRules(before, canary), runId });
}

/** The changes become the tenant's settings, and the canary ends. false: it has ended in another way meanwhile. */
export async function promote(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  canary: Canary,
): Promise<boolean> {
  const { id, tenant, state } = canary;
  await ledger.settings.put(tenant, promotedRules(await ledger.settings.get(tenant), canary));
  const now = tools.now();
  const data = { canary_id: id, set_elsewhere: [...configuredIn(canary.changes)] };
  return ledger.canaries.move(
    id,
    { from: state, to: 'promoted', dueAt: null, finishedAt: now },
    { type: 'canary.promoted', at: now, data },
  );
}

/** The steps that a consolidation asks a model for. */
const modelOf = ({ model }: WhatIfChanges) => model !== undefined && { extract: model, decide: model };

function promotedRules(rules: TenantSettings, { changes: stored }: Canary): TenantSettings {
  const changes = changesFrom(stored);
  return {
    ...changedRules(rules, changes),
    models: { ...rules.models, ...modelOf(changes), ...changes.models },
    graph: changes.graph ?? rules.graph,
  };
}
