import { type NightSummary, type NightView, ReviewState, type ReviewView, type UndoReport } from '@slowwave/contracts';
import { ofTenant } from '../api.ts';
import { type Call, type Command, momentOf, type Outcome, oneOf, pathWord, present, TENANT } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { type Columns, LIMIT, listed, pairs, table } from '../output.ts';

export const reviewCommands: readonly Command[] = [
  {
    name: 'reviews',
    summary: 'List the operations that need approval, newest first.',
    options: {
      state: { value: 'STATE', about: `One of ${ReviewState.options.join(', ')}. Default: pending.` },
      user: { value: 'ID', about: 'Only memories of this user.' },
      tenant: TENANT,
      limit: LIMIT,
    },
    run: async (call) => {
      const { given } = call;
      const state = oneOf(given, 'state', ReviewState.options) ?? 'pending';
      const query = { state, user_id: given.text('user'), tenant: given.text('tenant') };
      return listed(call, {
        path: '/v1/reviews',
        query,
        columns: REVIEW_COLUMNS,
        as: 'reviews',
        none: `No review is ${state}.`,
      });
    },
  },
  {
    name: 'approve',
    usage: '<review>',
    summary: 'Approve what a review proposes; with --text, use another text than the proposed one.',
    options: { text: { value: 'TEXT', about: 'The text to remember instead.' }, tenant: TENANT },
    writes: true,
    run: (call) => decide(call, { decision: 'approve', ...present({ memory: call.given.text('text') }) }),
  },
  {
    name: 'reject',
    usage: '<review>',
    summary: 'Reject what a review proposes: nothing is changed.',
    options: { tenant: TENANT },
    writes: true,
    run: (call) => decide(call, { decision: 'reject' }),
  },
];

async function decide(call: Call, body: object): Promise<Outcome> {
  const path = ofTenant(`/v1/reviews/${pathWord(call)}`, call);
  const review = await call.ask<ReviewView>('POST', path, body);
  return {
    value: review,
    text: `Review ${review.id} is ${review.state}${review.note === null ? '' : `: ${review.note}`}.`,
  };
}

const REVIEW_COLUMNS: Columns<ReviewView> = {
  id: 'id',
  event: 'event',
  user: ownerId,
  before: 'before',
  after: 'after',
  reason: 'reason',
};

const STATES = ['thinking', 'waiting', 'applied', 'discarded', 'stale', 'failed'] as const;

export const nightCommands: readonly Command[] = [
  {
    name: 'nights',
    usage: '[night]',
    summary: 'List nights, newest first, or show what one did or would do.',
    about: 'To undo a night, use slowwave undo with its id.',
    options: {
      state: { value: 'STATE', about: `Only those in this state: ${STATES.join(', ')}.` },
      user: { value: 'ID', about: 'Only those of this user.' },
      tenant: TENANT,
      limit: LIMIT,
    },
    run: async (call) => {
      const { given } = call;
      if (given.words.length > 0)
        return nightOutcome(await call.ask('GET', ofTenant(`/v1/nights/${pathWord(call)}`, call)));
      const query = {
        state: oneOf(given, 'state', STATES),
        user_id: given.text('user'),
        tenant: given.text('tenant'),
      };
      return listed(call, {
        path: '/v1/nights',
        query,
        columns: NIGHT_COLUMNS,
        as: 'nights',
        none: 'There are no nights.',
      });
    },
  },
  {
    name: 'nights apply',
    summary: 'Apply the plan of a waiting night.',
    ...decidedBy('apply'),
  },
  {
    name: 'nights discard',
    summary: 'Discard the plan of a waiting night.',
    ...decidedBy('discard'),
  },
  {
    name: 'nights without',
    usage: '<user>',
    summary: 'Show the memories of a user as if there had been no nights. Changes nothing.',
    options: { tenant: TENANT },
    run: async (call) =>
      undoOutcome(await call.ask<UndoReport>('GET', ofTenant(`/v1/users/${pathWord(call)}/without-nights`, call))),
  },
];

function decidedBy(decision: 'apply' | 'discard'): Omit<Command, 'name' | 'summary'> {
  return {
    usage: '<night>',
    writes: true,
    options: { tenant: TENANT },
    run: async (call) => {
      const path = ofTenant(`/v1/nights/${pathWord(call)}`, call);
      const night = await call.ask<NightView>('POST', path, { decision });
      return { value: night, text: `Night ${night.id} is ${night.state}.` };
    },
  };
}

const NIGHT_COLUMNS: Columns<NightSummary> = {
  id: 'id',
  user: ownerId,
  state: 'state',
  acts: 'acts',
  memories: 'memories',
  created: 'created_at',
};

function nightOutcome(night: NightView): Outcome {
  const { plan } = night;
  const head = pairs([
    ['night', night.id],
    ['state', night.why === null ? night.state : `${night.state} (${night.why})`],
    ['calls', plan?.calls ?? 0],
    ['tokens', plan?.tokens ?? 0],
  ]);
  const acts = table(
    {
      act: ({ act, asks }) => (asks ? `${act}, asks` : act),
      before: 'before',
      after: 'after',
      'because of': ({ evidence }) => evidence.map(({ memory }) => memory).join('; '),
      reason: 'reason',
    },
    plan?.acts ?? [],
  );
  const refused = table({ refused: 'asked', why: 'why' }, plan?.refused ?? []);
  const parts = [head, ...(plan?.acts.length ? [acts] : []), ...(plan?.refused.length ? [refused] : [])];
  return { value: night, text: parts.join('\n\n') };
}

const DRY_RUN = { 'dry-run': { value: null, about: 'Only report what would change.' } };

export const undoCommands: readonly Command[] = [
  {
    name: 'undo',
    usage: '<consolidation id>',
    writes: true,
    summary: 'Undo a consolidation. Later changes that depend on it are listed first.',
    about: 'The history is kept. slowwave redo reverts an undo.',
    options: { cascade: { value: null, about: 'Also undo what depends on it.' }, ...DRY_RUN },
    run: async (call) => {
      const { given, ask } = call;
      const path = `/v1/consolidations/${pathWord(call)}/undo`;
      const shown = await ask<UndoReport>('POST', path, { cascade: false, dry_run: true });
      if (given.flag('dry-run')) return undoOutcome(shown);
      const cascade = given.flag('cascade');
      if (shown.dependents.length > 0 && !cascade) throw dependsOn(shown);
      return undoOutcome(await ask('POST', path, { cascade, dry_run: false }));
    },
  },
  {
    name: 'rollback',
    usage: '<user id>',
    writes: true,
    summary: 'Roll all memories of a user back to an earlier time.',
    about: `The time is when memories were recorded, not when things were said. The history is kept.
slowwave redo reverts a rollback.`,
    options: { to: { value: 'MOMENT', about: 'The time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d ago.' }, ...DRY_RUN },
    run: async (call) => {
      const to = momentOf(call.given, 'to');
      if (to === null) throw new UsageError('expected --to, the time to go back to', 'rollback');
      const body = { to, dry_run: call.given.flag('dry-run') };
      return undoOutcome(await call.ask('POST', `/v1/users/${pathWord(call)}/rollback`, body));
    },
  },
  {
    name: 'redo',
    usage: '<undo id>',
    writes: true,
    summary: 'Revert an undo or a rollback.',
    options: DRY_RUN,
    run: async (call) =>
      undoOutcome(await call.ask('POST', `/v1/undos/${pathWord(call)}/redo`, { dry_run: call.given.flag('dry-run') })),
  },
];

/** What an undo took back, or would take back. */
const undoOutcome = (report: UndoReport): Outcome => ({ value: report, text: undoText(report) });

const dependentsOf = ({ dependents }: UndoReport): string =>
  dependents.map(({ kind, id }) => `  ${kind} ${id}`).join('\n');

const dependsOn = (report: UndoReport): CommandError =>
  new CommandError(
    `nothing was changed: these later changes depend on it:\n${dependentsOf(report)}\nUse --dry-run to see everything that ` +
      'would change, then --cascade to undo all of it.',
    EXIT.failed,
  );

function undoText(report: UndoReport): string {
  const { undo, memories, changed, undone, redone, dependents } = report;
  const list = table({ memory: 'id', before: 'before', after: 'after' }, memories);
  const counts = pairs([
    ['consolidations undone', undone.length],
    ['consolidations redone', redone.length],
    ['memories changed', changed],
  ]);
  return [
    ...(dependents.length === 0 ? [] : [`Later changes that are undone as well:\n${dependentsOf(report)}`]),
    ...(memories.length === 0 ? [] : [list]),
    counts,
    ...(undo === null ? ['Nothing was changed.'] : [`Done. To revert it: slowwave redo ${undo.id}`]),
  ].join('\n\n');
}

function ownerId({ user_id, agent_id, run_id }: Pick<ReviewView, 'user_id' | 'agent_id' | 'run_id'>): string | null {
  return user_id ?? agent_id ?? run_id;
}
