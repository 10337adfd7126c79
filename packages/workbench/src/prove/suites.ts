import type { Outcome, Tools } from './proof.ts';

export interface TestReport {
  readonly numPassedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly message?: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages?: readonly string[];
    }[];
  }[];
}

const VITEST = [
  'node_modules/.bin/node',
  'node_modules/vitest/vitest.mjs',
  'run',
  '--project',
  'integration',
  '--project',
  'proofs',
];

/** Runs tests of the repository, with settings of their own. */
export async function suites(
  tools: Pick<Tools, 'json'>,
  env: Record<string, string>,
  paths: readonly string[],
): Promise<Outcome & { readonly report: TestReport }> {
  const how = { env, fileOption: '--outputFile' };
  const report = (await tools.json([...VITEST, '--reporter=json', ...paths], how)) as TestReport;
  const failures = report.testResults.flatMap(({ name, message = '', assertionResults }) => {
    if (assertionResults.length === 0) return [`${name}: ${message || 'no test ran'}`];
    const failed = assertionResults.filter(
      ({ status, fullName }) => status !== 'passed' || fullName.includes('did NOT run'),
    );
    return failed.map(({ fullName, failureMessages = [] }) => [fullName, ...failureMessages].join(': '));
  });
  return { figure: `${report.numPassedTests} tests passed, ${failures.length} failed`, failures, report };
}
