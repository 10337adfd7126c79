import { readFile } from 'node:fs/promises';
import type { CanaryRehearsal, CanarySummary, CanaryView } from '@slowwave/contracts';
import type { z } from 'zod';
import { type Call, type Command, type Given, type Outcome, oneOf, pathWord, present } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, pairs, table } from '../output.ts';

export const canaryCommands: readonly Command[] = [
  {
    name: 'canary start',
    summary: 'Roll out a change of memory to a growing share of the owners, and watch it.',
    about: 'Give at least one change. The canary halts automatically if memory gets worse, and undoes what it wrote.',
    writes: true,
    options: {
      model: { value: 'NAME', about: 'Another chat model on the same model server.' },
      mode: { value: 'MODE', about: 'decide or add_only; overrides the mode of the batches.' },
      instructions: { value: 'TEXT', about: 'Instead of the instructions in the settings.' },
      changes: {
        value: 'FILE',
        about: 'A JSON file with these and all other changes, in the format of POST /v1/canaries.',
      },
      manual: { value: null, about: 'When it halts, wait for you instead of undoing at once.' },
    },
    run: async ({ given, ask }) => {
      const changes = {
        ...(await changesIn(given.text('changes'))),
        ...present({
          model: given.text('model'),
          mode: oneOf(given, 'mode', ['decide', 'add_only']),
          instructions: given.text('instructions'),
        }),
      };
      const undo = given.flag('manual') ? 'manual' : 'automatic';
      const canary = await ask<CanaryView>('POST', '/v1/canaries', { changes, undo });
      return { value: canary, text: `Canary ${canary.id} started with ${canary.share}% of ${canary.owners} owners.` };
    },
  },
  {
    name: 'canary list',
    summary: 'List canaries, newest first.',
    options: { limit: LIMIT },
    run: async (call) => {
      return listed(call, {
        path: '/v1/canaries',
        query: {},
        columns: COLUMNS,
        as: 'canaries',
        none: 'There are no canaries.',
      });
    },
  },
  {
    name: 'canary show',
    usage: '<canary>',
    summary: 'Show a canary: its figures compared with the other owners, and the progress of its undo.',
    about: 'Exits with 3 if it has halted or is being undone.',
    run: async (call) => shown(await call.ask<CanaryView>('GET', `/v1/canaries/${pathWord(call)}`)),
  },
  {
    name: 'canary stop',
    usage: '<canary>',
    summary: 'Stop a canary and keep what it wrote. You can undo it later.',
    writes: true,
    run: (call) => ended(call, 'stop', {}),
  },
  {
    name: 'canary promote',
    usage: '<canary>',
    summary: 'Make the changes of a canary the settings of the tenant.',
    writes: true,
    options: {
      'already-set': { value: null, about: 'You have configured the changes that tenant settings cannot hold.' },
      'gate-run': { value: 'ID', about: 'The id of a passed run of the gate’s suite with exactly these settings.' },
    },
    run: (call) =>
      ended(call, 'promote', {
        already_set: call.given.flag('already-set'),
        ...present({ gate_run: call.given.text('gate-run') }),
      }),
  },
  {
    name: 'canary undo',
    usage: '<canary>',
    summary: 'Undo what a canary wrote, and consolidate the same batches again without its changes.',
    writes: true,
    options: {
      'dry-run': { value: null, about: 'Only report what would be undone, and the calls and tokens to expect.' },
      calls: { value: 'N', about: 'Maximum number of model calls for consolidating again.' },
      tokens: { value: 'N', about: 'Maximum number of tokens.' },
      cost: { value: 'N', about: 'Maximum cost, in the currency of the prices in the settings.' },
    },
    run: async (call) => {
      const { given, ask } = call;
      const budget = present({
        calls: numberIn(given, 'calls'),
        tokens: numberIn(given, 'tokens'),
        cost: numberIn(given, 'cost'),
      });
      const body = { ...(Object.keys(budget).length > 0 && { budget }) };
      if (!given.flag('dry-run')) return ended(call, 'undo', body);
      const path = `/v1/canaries/${pathWord(call)}/undo`;
      const { owners, consolidations, batches, expected } = await ask<z.infer<typeof CanaryRehearsal>>('POST', path, {
        ...body,
        dry_run: true,
      });
      return {
        value: { owners, consolidations, batches, expected },
        text: pairs([
          ['owners', owners],
          ['consolidations to undo', consolidations],
          ['batches to consolidate again', batches],
          ['calls to expect', expected.calls],
          ['tokens to expect', expected.tokens],
          ['cost to expect', expected.cost],
        ]),
      };
    },
  },
];

async function changesIn(file: string | null): Promise<object> {
  if (file === null) return {};
  try {
    return JSON.parse(await readFile(file, 'utf8')) as object;
  } catch (error) {
    throw new UsageError(`expected a JSON file with changes at --changes: ${String(error)}`, 'canary start');
  }
}

function numberIn(given: Given, option: string): number | null {
  const text = given.text(option);
  if (text === null) return null;
  const number = Number(text);
  if (Number.isFinite(number) && number >= 0) return number;
  throw new UsageError(`--${option}: expected a number from 0, got "${text}"`, 'canary undo');
}

async function ended(call: Call, what: string, body: object): Promise<Outcome> {
  const canary = await call.ask<CanaryView>('POST', `/v1/canaries/${pathWord(call)}/${what}`, body);
  return { value: canary, text: `Canary ${canary.id} is ${canary.state}.` };
}

const TROUBLED: readonly CanarySummary['state'][] = ['halted', 'undoing'];

function shown(canary: CanaryView): Outcome {
  const { id, state, share, step, steps, owners, owners_touched, consolidations, halt, watched, undoing } = canary;
  const head = pairs([
    ['canary', id],
    ['state', state],
    ['share', `${share}% (step ${step} of ${steps.length})`],
    ['owners with its changes', `${owners_touched} of ${owners}`],
    ['consolidations', consolidations],
    ...(halt === null ? [] : ([['halted', halt.message]] as const)),
    ...(undoing === null ? [] : undoingIn(undoing)),
  ]);
  const figures = watched === null || watched.figures.length === 0 ? [] : [table(FIGURES, watched.figures)];
  return {
    value: canary,
    text: [head, ...figures].join('\n\n'),
    exit: TROUBLED.includes(state) ? EXIT.findings : EXIT.done,
  };
}

function undoingIn({ owners, batches, used, expected, waiting }: NonNullable<CanaryView['undoing']>) {
  const { held, replayed, done, left } = owners;
  return [
    ['owners held / consolidating / done / unchanged', `${held} / ${replayed} / ${done} / ${left}`],
    ['batches queued again', batches],
    ['tokens used / expected', `${used.tokens} / ${expected.tokens}`],
    ...(waiting === null ? [] : ([['waiting', waiting.message]] as const)),
  ] as const;
}

const COLUMNS: Columns<CanarySummary> = {
  id: 'id',
  state: 'state',
  share: 'share',
  changes: ({ changes }) => JSON.stringify(changes),
  'halted for': ({ halt }) => halt?.code ?? null,
  begun: 'created_at',
};

type Figure = NonNullable<CanaryView['watched']>['figures'][number];

const DIGITS = 3;
const short = (value: number | null): number | null => (value === null ? null : Number(value.toPrecision(DIGITS)));

const FIGURES: Columns<Figure> = {
  figure: 'figure',
  canary: ({ canary }) => short(canary),
  others: ({ rest }) => short(rest),
  difference: ({ difference }) => short(difference?.value ?? null),
  from: ({ difference }) => short(difference?.low ?? null),
  to: ({ difference }) => short(difference?.high ?? null),
  verdict: 'verdict',
};
