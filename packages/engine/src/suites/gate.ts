import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { payerOf, spaceIn } from '../ids.ts';
import { cheaperOf } from '../limits/economy.ts';
import type { StepModels } from '../models/steps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { pages } from '../ports/ledger/ledger.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import { changedRules, changesFrom, setupOf, type Thinker, type WhatIfChanges } from '../replays/in-space.ts';
import { DECIDING, type GateSetting, type TenantSettings } from '../settings.ts';
import { DAY_MS } from '../text/dates.ts';
import { canonical } from '../text/normalise.ts';
import type { TenantId } from '../words.ts';
import type { SuiteReport } from './report.ts';

type Deps = Pick<EngineDeps, 'ledger' | 'tools'>;

/** Names what decides what is remembered in the run of a suite, as it is started now. */
export async function decidedInRun(deps: Deps, tenant: TenantId, changes: WhatIfChanges): Promise<string> {
  return decidedBy(deps, changedRules(await deps.ledger.settings.get(tenant), changes), changes);
}

/** Equal for equal prompts, instructions and models alone. */
function decidedBy(
  { tools }: Pick<Deps, 'tools'>,
  rules: TenantSettings,
  changes: Pick<WhatIfChanges, 'model'> = {},
): string {
  const deciding = Object.fromEntries(DECIDING.map((name) => [name, rules[name]]));
  return tools.hash(canonical([deciding, changes.model ?? null]));
}

/** What is missing before settings may be taken over; null: nothing. */
export async function whyGated(
  deps: Deps,
  tenant: TenantId,
  { now: settings, before, runId }: { now: TenantSettings; before: TenantSettings; runId: string | null },
): Promise<string | null> {
  const { gate } = before;
  if (gate === null) return null;
  const wanted = decidedBy(deps, settings);
  if (canonical(settings.gate) !== canonical(gate)) return 'only an operator may change or lift a gate';
  if (wanted === decidedBy(deps, before)) return null;
  const run = `suite ${JSON.stringify(gate.suite)}`;
  if (runId === null) return `these settings require a passed run of the ${run}; send its id as gate_run`;
  const replay = await deps.ledger.replays.get(tenant, runId);
  const suite = await deps.ledger.suites.find(tenant, gate.suite);
  if (replay === null || suite === null || replay.filter.suite !== suite.id)
    return `${runId} is not a run of the ${run}`;
  if (!isPassed(replay)) return `the run ${runId} has not passed`;
  if (isOld(deps, replay, gate)) return `the run ${runId} is older than ${gate.days} days; run the suite again`;
  return replay.filter.decided === wanted
    ? null
    : `the run ${runId} used other settings; run the suite with these settings`;
}

const isPassed = ({ state, result }: Replay): boolean =>
  state !== 'failed' && (result as unknown as SuiteReport | null)?.passed === true;

const isOld = ({ tools }: Deps, { finishedAt }: Replay, { days }: GateSetting): boolean =>
  finishedAt === null || finishedAt < tools.now() - days * DAY_MS;

/** Whether some run of the gate's suite has passed with this setup, however long ago; true where there is no gate. */
export async function isSetupPassed(
  { ledger }: Pick<Deps, 'ledger'>,
  tenant: TenantId,
  setup: string,
): Promise<boolean> {
  const { gate } = await ledger.settings.get(tenant);
  if (gate === null) return true;
  const suite = await ledger.suites.find(tenant, gate.suite);
  if (suite === null) return false;
  for await (const run of pages((page) => ledger.suites.runs(tenant, suite.id, page)))
    if (isPassed(run) && (run.result as unknown as SuiteReport).setup === setup) return true;
  return false;
}

/** By the tools of a process: setups that were seen to have passed, so that runs are not read for every turn. */
const PASSED = new WeakMap<EngineDeps['tools'], Set<string>>();
const WAITS_MS = 60_000;

/**
 * Throws where the operator wants consolidations to wait for the gate, and what is in use has passed no run of it. What a canary or
 * a run of a suite tries has not passed it yet.
 */
export async function waitForGate(
  deps: Thinker & Deps & Pick<EngineDeps, 'settings'>,
  {
    turn: { tenant, variant },
    rules,
  }: { readonly turn: Pick<Turn, 'tenant' | 'variant'>; readonly rules: TenantSettings },
): Promise<void> {
  if (deps.settings.waitsForGate !== true || rules.gate === null || variant !== null || spaceIn(tenant) !== null)
    return;
  const setup = setupOf(deps, rules);
  const known = PASSED.get(deps.tools) ?? new Set();
  const name = canonical([tenant, rules.gate.suite, setup]);
  if (known.has(name)) return;
  if (!(await isSetupPassed(deps, tenant, setup))) throw notPassed(rules.gate.suite);
  PASSED.set(deps.tools, known.add(name));
}

const notPassed = (suite: string): EngineError =>
  new EngineError(
    `the models, prompts and settings in use have not passed a run of the suite ${JSON.stringify(suite)}, and SLOWWAVE_GATE is wait; run slowwave suite run ${suite} --yes`,
    { code: 'gate_not_passed', retryable: true, countsAsTry: false, retryAfterMs: WAITS_MS },
  );

/** Whether a model has passed the tenant's gate in the place of another; true where there is no gate. */
export async function hasPassed(deps: Deps, tenant: TenantId, model: string): Promise<boolean> {
  const { gate } = await deps.ledger.settings.get(tenant);
  if (gate === null) return true;
  const suite = await deps.ledger.suites.find(tenant, gate.suite);
  if (suite === null) return false;
  for await (const run of pages((page) => deps.ledger.suites.runs(tenant, suite.id, page))) {
    const { model: all, models = {} } = changesFrom(run.changes);
    const isOf = all === model || Object.values(models).includes(model);
    if (isOf && isPassed(run) && !isOld(deps, run, gate)) return true;
  }
  return false;
}

/** What is thought, and how far it economises. */
type Economising = Pick<Turn, 'tenant'> & Partial<Pick<Turn, 'rung' | 'variant'>>;

/**
 * The rules of a tenant with the cheaper models that are named, from the rung on that asks them. Each of them has to have passed the
 * tenant's gate by itself, where there is one. A canary tries its own models.
 */
export async function economised(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  { tenant, rung = 0, variant = null }: Economising,
  rules: TenantSettings,
): Promise<TenantSettings> {
  const cheaper = variant === null ? Object.entries(cheaperOf(rules.economy, rung)) : [];
  if (cheaper.length === 0) return rules;
  const passed: [string, string][] = [];
  for (const [step, model] of cheaper)
    if (rules.gate === null || (await hasPassed(deps, payerOf(tenant), model))) passed.push([step, model]);
  const models: StepModels = { ...rules.models, ...Object.fromEntries(passed) };
  return { ...rules, models };
}
