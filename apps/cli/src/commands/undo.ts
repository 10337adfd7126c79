import type { UndoReport } from '@slowwave/contracts';
import { type Command, momentOf, type Outcome, pathWord } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { pairs, table } from '../output.ts';

const DRY_RUN = { 'dry-run': { value: null, about: 'Only report what would change.' } };

export const undoCommand: Command = {
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
};

export const rollbackCommand: Command = {
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
};

export const redoCommand: Command = {
  name: 'redo',
  usage: '<undo id>',
  writes: true,
  summary: 'Revert an undo or a rollback.',
  options: DRY_RUN,
  run: async (call) =>
    undoOutcome(await call.ask('POST', `/v1/undos/${pathWord(call)}/redo`, { dry_run: call.given.flag('dry-run') })),
};

/** What an undo took back, or would take back. */
export const undoOutcome = (report: UndoReport): Outcome => ({ value: report, text: textOf(report) });

const listOf = ({ dependents }: UndoReport): string => dependents.map(({ kind, id }) => `  ${kind} ${id}`).join('\n');

const dependsOn = (report: UndoReport): CommandError =>
  new CommandError(
    `nothing was changed: these later changes depend on it:\n${listOf(report)}\nUse --dry-run to see everything that ` +
      'would change, then --cascade to undo all of it.',
    EXIT.failed,
  );

function textOf(report: UndoReport): string {
  const { undo, memories, changed, undone, redone, dependents } = report;
  const list = table(
    [
      { name: 'memory', of: ({ id }) => id },
      { name: 'before', of: ({ before }) => before },
      { name: 'after', of: ({ after }) => after },
    ],
    memories,
  );
  const counts = pairs([
    ['consolidations undone', undone.length],
    ['consolidations redone', redone.length],
    ['memories changed', changed],
  ]);
  return [
    ...(dependents.length === 0 ? [] : [`Later changes that are undone as well:\n${listOf(report)}`]),
    ...(memories.length === 0 ? [] : [list]),
    counts,
    ...(undo === null ? ['Nothing was changed.'] : [`Done. To revert it: slowwave redo ${undo.id}`]),
  ].join('\n\n');
}
