import type { EngineDeps } from '../deps.ts';
import type { Canary } from '../ports/ledger/canaries.ts';
import { changedRules, changesFrom, type WhatIfChanges } from '../replays/in-space.ts';
import type { TenantSettings } from '../settings.ts';
import { whyGated } from '../suites/gate.ts';
import type { JsonObject } from '../words.ts';

/** Changes that no setting of a tenant has: they are set where the service is configured, or in each request. */
const CONFIGURED = ['mode', 'recallPerFact', 'near'] as const satisfies readonly (keyof WhatIfChanges)[];
export type ConfiguredChange = (typeof CONFIGURED)[number];

/** What of the changes the tenant's settings cannot hold. */
export const configuredIn = (changes: JsonObject): readonly ConfiguredChange[] =>
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
