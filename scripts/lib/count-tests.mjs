// Prints "<passed> <failed>" for a report of the test runner. What was left out counts as failed: nothing is skipped.
import { readFileSync } from 'node:fs';

const report = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'));
const files = report.testResults;
const tests = files.flatMap((file) => file.assertionResults);
const passed = tests.filter(({ status }) => status === 'passed').length;
// A file that could not be loaded, or whose set-up failed outside of any test.
const broken = files.filter(
  (file) => file.status === 'failed' && file.assertionResults.every(({ status }) => status === 'passed'),
);
process.stdout.write(`${passed} ${tests.length - passed + broken.length}\n`);
