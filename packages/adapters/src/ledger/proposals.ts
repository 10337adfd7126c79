import type { HeldOperation, MemoryChange, Millis, TenantId } from '@slowwave/engine';
import { proposalOver } from '@slowwave/engine/storing';
import { all, run, type Script } from './script.ts';

/** Deletions that ratings proposed are over where their rating or the text they are about is gone. Needs the locks of the lanes. */
export function* endProposals(
  changes: readonly MemoryChange[],
  { tenant, now }: { readonly tenant: TenantId; readonly now: Millis },
): Script<void> {
  const rated = changes.flatMap(({ memory }) =>
    memory.timeline.some((mark) => mark.kind === 'rated') ? [[memory.id, memory] as const] : [],
  );
  if (rated.length === 0) return;
  const memories = new Map(rated);
  const proposed = yield* all<ProposedRow>(SELECT_PROPOSED, { tenant, memoryIds: [...memories.keys()] });
  for (const { id, memory_id: memoryId, operation } of proposed) {
    const { rated: version = 0 }: HeldOperation = JSON.parse(operation);
    const memory = memories.get(memoryId);
    const note = memory === undefined ? null : proposalOver(memory, version);
    if (note !== null) yield* run(END, { tenant, id, note, now });
  }
}

interface ProposedRow {
  readonly id: string;
  readonly memory_id: string;
  readonly operation: string;
}

const SELECT_PROPOSED = `
  SELECT id, memory_id, operation FROM reviews
  WHERE memory_id IN :memoryIds AND tenant = @tenant AND consolidation_id IS NULL AND state = 'pending'`;

const END = `
  UPDATE reviews SET state = 'stale', note = @note, settled_at = @now
  WHERE tenant = @tenant AND id = @id AND state = 'pending'`;
