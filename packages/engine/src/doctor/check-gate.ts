import { spaceIn } from '../ids.ts';
import { isSetupPassed } from '../suites/gate.ts';
import { askedModels, setupOf } from '../suites/setup.ts';
import type { Checked, Examining, Finding } from './findings.ts';

/** Where a tenant has a gate, what this process decides with has passed it: a model may have been changed by starting it anew. */
export async function checkGate({ deps }: Examining): Promise<Checked> {
  const { ledger, tools, thinker } = deps;
  if (thinker === undefined) return { looked: 0, findings: [] };
  const findings: Finding[] = [];
  let looked = 0;
  for (const tenant of await ledger.audit.tenants()) {
    const rules = await ledger.settings.get(tenant);
    if (rules.gate === null || spaceIn(tenant) !== null) continue;
    looked += 1;
    if (await isSetupPassed(deps, tenant, setupOf({ ...thinker, tools }, rules))) continue;
    const { extract, decide } = askedModels(thinker, rules);
    const models = extract === decide ? extract : `${extract} and ${decide}`;
    findings.push({
      check: 'gate',
      severity: 'warning',
      what: `tenant ${tenant}: the models, prompts and settings in use (${models}) have not passed a run of the suite ${rules.gate.suite}`,
      count: 1,
      examples: [],
      remedy: `slowwave suite run ${rules.gate.suite} --yes; before you configure another model, run the suite with --model`,
    });
  }
  return { looked, findings };
}
