import { z } from 'zod';
import { ExternalId, listOf, Moment, PageQuery, ScopeView } from './common.ts';

const DryRun = z.boolean().default(false).describe('Only tell what would change.');

export const PostUndo = z
  .strictObject({
    cascade: z.boolean().default(false).describe('Undo what came later and depends on it as well.'),
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
  .strictObject({ version: z.int().min(1).describe('A version of the memory, or of an event in its history.') })
  .meta({ id: 'PostRestore', examples: [{ version: 1 }] });

/** Something that came later, and changed or confirmed a memory that would be taken back under it. */
export const DependentView = z
  .object({
    kind: z.enum(['consolidation', 'write']).describe('write: an explicit one; its id is that of its event.'),
    id: z.string(),
    memory_ids: z.array(z.string()),
  })
  .meta({ id: 'Dependent' });
export type DependentView = z.infer<typeof DependentView>;

const UndoKind = z.enum(['undo', 'rollback', 'redo']);

export const UndoView = ScopeView.pick({ user_id: true, agent_id: true, run_id: true })
  .extend({
    id: z.string(),
    kind: UndoKind,
    to: z.string().nullable().describe('Of a rollback: the time it led back to.'),
    consolidation_ids: z.array(z.string()).describe('What it took back.'),
    undo_ids: z.array(z.string()).describe('Earlier undos it took back.'),
    memories: z.number().int().describe('How many memories have an event of it.'),
    created_at: z.string(),
  })
  .meta({ id: 'Undo' });
export type UndoView = z.infer<typeof UndoView>;

export const UndoList = listOf(UndoView).meta({ id: 'UndoList' });
export const ListUndosQuery = z.strictObject({ user_id: ExternalId.optional(), ...PageQuery });

export const UndoReport = z
  .object({
    undo: UndoView.nullable().describe(
      'null: nothing was changed, because of dry_run or because there was nothing to.',
    ),
    memories: z
      .array(z.object({ id: z.string(), before: z.string().nullable(), after: z.string().nullable() }))
      .describe('The first 1,000 memories that hold something else now; null: nothing holds.'),
    changed: z.number().int().describe('How many memories that are in all.'),
    undone: z.array(z.string()).describe('Consolidations that are undone by it, their batches with them.'),
    redone: z.array(z.string()).describe('Consolidations that count again.'),
    dependents: z.array(DependentView).describe('What was undone with it, newest first.'),
  })
  .meta({ id: 'UndoReport' });
export type UndoReport = z.infer<typeof UndoReport>;
