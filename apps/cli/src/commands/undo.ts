import type { UndoReport } from '@slowwave/contracts';
import { type Ask, withApi } from '../api.ts';
import { type Call, type Command, momentOf } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { pairs, table } from '../output.ts';

const DRY_RUN = { 'dry-run': { value: null, about: 'Only report what would change.' } };

export const undoCommand: Command = {
  name: 'undo',
  usage: '<consolidation id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Undo a consolidation. What came later and depends on it is listed first.',
  about: 'The history is kept, and an undo can be undone: slowwave redo.',
  options: { cascade: { value: null, about: 'Undo what depends on it as well.' }, ...DRY_RUN },
  run: (call) => {
    const path = `/v1/consolidations/${encodeURIComponent(call.given.words[0] ?? '')}/undo`;
    return withApi(call, { writes: true }, async (ask) => {
      const shown = await report(ask, path, { cascade: false, dry_run: true });
      if (call.given.flag('dry-run')) return answer(call, shown);
      const cascade = call.given.flag('cascade');
      if (shown.dependents.length > 0 && !cascade) throw dependsOn(shown);
      return answer(call, await report(ask, path, { cascade, dry_run: false }));
    });
  },
};

export const rollbackCommand: Command = {
  name: 'rollback',
  usage: '<user id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Roll all memories of a user back to an earlier time.',
  about: `By the time they were recorded, not when things were said. Nothing of the history goes, and
it can be taken back: slowwave redo.`,
  options: { to: { value: 'MOMENT', about: 'The time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d ago.' }, ...DRY_RUN },
  run: (call) => {
    const to = momentOf(call.given, 'to');
    if (to === null) throw new UsageError('expected --to, the time to go back to', 'rollback');
    const path = `/v1/users/${encodeURIComponent(call.given.words[0] ?? '')}/rollback`;
    const body = { to, dry_run: call.given.flag('dry-run') };
    return withApi(call, { writes: true }, async (ask) => answer(call, await report(ask, path, body)));
  },
};

export const redoCommand: Command = {
  name: 'redo',
  usage: '<undo id>',
  words: [1, 1],
  on: 'server or ledger',
  summary: 'Redo what an undo or a rollback undid.',
  about: '',
  options: DRY_RUN,
  run: (call) => {
    const path = `/v1/undos/${encodeURIComponent(call.given.words[0] ?? '')}/redo`;
    const body = { dry_run: call.given.flag('dry-run') };
    return withApi(call, { writes: true }, async (ask) => answer(call, await report(ask, path, body)));
  },
};

const report = (ask: Ask, path: string, body: object): Promise<UndoReport> => ask({ method: 'POST', path, body });

function answer({ out }: Call, taken: UndoReport): number {
  out.answer(taken, takenBackText(taken));
  return EXIT.done;
}

function dependsOn({ dependents }: UndoReport): CommandError {
  const list = dependents.map(({ kind, id }) => `  ${kind} ${id}`).join('\n');
  return new CommandError(
    `what came later depends on it, and nothing was changed:\n${list}\nCheck everything that ` +
      'would change with --dry-run, then undo it all with --cascade.',
    EXIT.failed,
  );
}

/** What changes, as people read it; what would have to go along first. */
function takenBackText({ undo, memories, changed, undone, redone, dependents }: UndoReport): string {
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
    ['consolidations that count again', redone.length],
    ['memories changed', changed],
  ]);
  const along = dependents.map(({ kind, id }) => `  ${kind} ${id}`);
  return [
    ...(along.length === 0 ? [] : [`Came later, and goes along:\n${along.join('\n')}`]),
    ...(memories.length === 0 ? [] : [list]),
    counts,
    ...(undo === null ? ['Nothing was changed.'] : [`Done. To take it back: slowwave redo ${undo.id}`]),
  ].join('\n\n');
}
