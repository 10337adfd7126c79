import { readFile } from 'node:fs/promises';
import type { TaskStateView } from '@slowwave/contracts';
import { withQuery } from '../api.ts';
import { type Call, type Command, type OptionNote, pathWord } from '../command.ts';
import { UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, pairs, table } from '../output.ts';

/** Whose run it is; without any, the run is its own owner. */
const OF: Readonly<Record<string, OptionNote>> = {
  user: { value: 'ID', about: 'The user of the run,' },
  agent: { value: 'ID', about: 'or the agent.' },
  app: { value: 'ID', about: 'The app the run was started under.' },
};

const VERSION: OptionNote = {
  value: 'N',
  about: 'The version you have read; a different current version is an error.',
};

const ownerIn = ({ given }: Pick<Call, 'given'>) => ({
  user_id: given.text('user'),
  agent_id: given.text('agent'),
  app_id: given.text('app'),
});

const pathOf = (call: Call, what: string): string => withQuery(`/v1/runs/${pathWord(call)}/${what}`, ownerIn(call));

export const runCommands: readonly Command[] = [
  {
    name: 'runs',
    summary: 'List the runs of an owner that have a state, last changed first.',
    options: { ...OF, ended: { value: null, about: 'Only runs that ended.' }, limit: LIMIT },
    run: async (call) => {
      const query = { ...ownerIn(call), ended: call.given.flag('ended') ? 'true' : null };
      return listed(call, { path: '/v1/runs', query, columns: RUNS, as: 'runs', none: 'No run has a state.' });
    },
  },
  {
    name: 'run state',
    usage: '<run>',
    summary: 'Show the state of a run; with --file, replace it.',
    about: `The file has goal, steps and data as in GET /v1/runs/{id}/state, as JSON; "-" reads
standard input. Without --version it can only start a run.`,
    options: {
      ...OF,
      file: { value: 'PATH', about: 'The new state.' },
      version: VERSION,
      history: { value: null, about: 'List its versions, newest first.' },
      limit: LIMIT,
    },
    run: async (call) => {
      if (call.given.flag('history')) return history(call);
      const file = call.given.text('file');
      const state =
        file === null
          ? await call.ask<TaskStateView>('GET', pathOf(call, 'state'))
          : await call.ask<TaskStateView>('PUT', pathOf(call, 'state'), {
              ...(await stateIn(file)),
              ...versionIn(call),
            });
      return { value: state, text: shown(state) };
    },
  },
  {
    name: 'run end',
    usage: '<run>',
    summary: 'Mark a run as ended: its state stays readable and can no longer be changed.',
    options: { ...OF, version: VERSION },
    run: async (call) => {
      const state = await call.ask<TaskStateView>('POST', pathOf(call, 'end'), versionIn(call));
      return { value: state, text: `Run ${state.run_id} ended at ${state.ended_at}.` };
    },
  },
];

async function history(call: Call) {
  const path = `/v1/runs/${pathWord(call)}/state/history`;
  return listed(call, { path, query: ownerIn(call), columns: VERSIONS, as: 'versions' });
}

function versionIn({ given }: Pick<Call, 'given'>): { version?: number } {
  const version = given.text('version');
  if (version === null) return {};
  if (!/^\d{1,15}$/.test(version)) throw new UsageError(`expected a version like 3, got "${version}"`, 'run state');
  return { version: Number(version) };
}

async function stateIn(file: string): Promise<object> {
  const text = await readFile(file === '-' ? '/dev/stdin' : file, 'utf8').catch((error: unknown) => {
    throw new UsageError(`expected a file that can be read, got ${file}: ${String(error)}`, 'run state');
  });
  try {
    const { goal, steps, data } = JSON.parse(text);
    return { goal: goal ?? undefined, steps: steps?.map(stepIn), data };
  } catch {
    throw new UsageError(`expected a state as JSON in ${file}, got something else`, 'run state');
  }
}

/** As it was shown, a step without a result has null. */
const stepIn = ({ result, ...step }: { result?: string | null }) => ({ ...step, ...(result && { result }) });

function shown(state: TaskStateView): string {
  const facts = pairs([
    ['run', state.run_id],
    ['version', state.version],
    ['goal', state.goal],
    ['waiting for approval', state.waiting_for_approval.length === 0 ? null : state.waiting_for_approval.join(', ')],
    ['updated', state.updated_at],
    ['ended', state.ended_at],
    ['data', Object.keys(state.data).length === 0 ? null : JSON.stringify(state.data)],
  ]);
  return state.steps.length === 0 ? facts : `${facts}\n\n${table(STEPS, state.steps)}`;
}

const STEPS: Columns<TaskStateView['steps'][number]> = { step: 'id', state: 'state', title: 'title', result: 'result' };

const VERSIONS: Columns<TaskStateView> = {
  version: 'version',
  written: 'updated_at',
  steps: ({ steps }) => steps.length,
  done: ({ steps }) => steps.filter(({ state }) => state === 'done').length,
  goal: 'goal',
};

const RUNS: Columns<TaskStateView> = { run: 'run_id', ...VERSIONS };
