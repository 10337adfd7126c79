import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery, ScopeView } from './common.ts';

const DryRun = z.boolean().default(false).describe('true: only report what would change.');

export const PostUndo = z
  .strictObject({
    cascade: z.boolean().default(false).describe('true: also undo later changes that depend on it.'),
    dry_run: DryRun,
  })
  .meta({ id: 'PostUndo', examples: [{}, { dry_run: true }, { cascade: true }] });

export const PostRollback = z
  .strictObject({ to: Moment.describe('Everything recorded later is undone.'), dry_run: DryRun })
  .meta({
    id: 'PostRollback',
    examples: [{ to: '2026-03-01T09:30:00Z', dry_run: true }, { to: '2026-03-01T09:30:00Z' }],
  });

export const PostRedo = z.strictObject({ dry_run: DryRun }).meta({ id: 'PostRedo', examples: [{ dry_run: true }, {}] });

export const PostRestore = z
  .strictObject({ version: z.int().min(1).describe('A version of the memory or of an event in its history.') })
  .meta({ id: 'PostRestore', examples: [{ version: 1 }] });

/** A later change that changed or confirmed a memory which would be reverted. */
export const DependentView = z
  .object({
    kind: z.enum(['consolidation', 'write']).describe('write: an explicit write; its id is the id of its event.'),
    id: z.string(),
    memory_ids: z.array(z.string()),
  })
  .meta({ id: 'Dependent' });
export type DependentView = z.infer<typeof DependentView>;

const UndoKind = z.enum(['undo', 'rollback', 'withdrawal', 'redo']);

export const UndoView = ScopeView.pick({ user_id: true, agent_id: true, run_id: true })
  .extend({
    id: z.string(),
    kind: UndoKind,
    to: z.string().nullable().describe('Only for a rollback: the time it rolled back to.'),
    consolidation_ids: z.array(z.string()).describe('The consolidations it undid.'),
    undo_ids: z.array(z.string()).describe('Earlier undos that it reversed.'),
    memories: z.number().int().describe('How many memories it changed.'),
    created_at: z.string(),
  })
  .meta({ id: 'Undo' });
export type UndoView = z.infer<typeof UndoView>;

export const UndoList = listOf(UndoView).meta({ id: 'UndoList' });
export const ListUndosQuery = z.strictObject({ user_id: ExternalId.optional(), ...PageQuery });

export const UndoReport = z
  .object({
    undo: UndoView.nullable().describe(
      'null: nothing was changed, because of dry_run or because there was nothing to change.',
    ),
    memories: z
      .array(z.object({ id: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('The first 1,000 memories whose text changed; null: no text.'),
    changed: z.number().int().describe('The total number of changed memories.'),
    undone: z.array(z.string()).describe('Consolidations that were undone, together with their batches.'),
    redone: z.array(z.string()).describe('Consolidations that were redone.'),
    dependents: z.array(DependentView).describe('What was undone together with it, newest first.'),
  })
  .meta({ id: 'UndoReport' });
export type UndoReport = z.infer<typeof UndoReport>;
