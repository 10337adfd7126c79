import type { EngineDeps } from '../deps.ts';
import { ownerBitsOf } from '../ids.ts';
import type { BundleStore } from '../ports/ledger/bundles.ts';
import type { ColdStore, IdleOwner, Oldest, Segment } from '../ports/ledger/owners-away.ts';
import type { SegmentStore } from '../ports/segments.ts';
import type { Cancellation } from '../ports/tools.ts';
import type { MakingDeps } from '../projection/make-points.ts';
import { limits } from '../retention/retain.ts';
import type { TenantSettings } from '../settings.ts';
import type { Millis } from '../words.ts';
import { segmentOf } from './segment.ts';

export type ColdDeps = Pick<EngineDeps, 'ledger' | 'index' | 'tools' | 'log' | 'embedder'> &
  MakingDeps & {
    readonly cold: ColdStore;
    readonly bundles: BundleStore;
    readonly segments: SegmentStore;
    /** Of one transaction. Missing: as long as others can wait for it. */
    readonly linesAtOnce?: number;
  };

export type Cooled =
  | { readonly kind: 'cooled'; readonly name: string }
  /** Something is left to do, was just written, or there is too much. */
  | { readonly kind: 'kept' };

/** Rows of one kind that go in one transaction. */
const SLICE = 200;

/**
 * Lays an owner to sleep: all of it is written to a segment and read again before anything goes, and nothing goes if something was written
 * to the owner meanwhile. Stopped anywhere, the sweep goes on: a segment that nobody cooled is deleted, and rows that were going go.
 */
export async function coolOwner(deps: ColdDeps, owner: IdleOwner, cancel: Cancellation): Promise<Cooled> {
  const { cold, segments, tools, ledger } = deps;
  const standing = await cold.standing(owner.lane);
  if (standing === null) return { kind: 'kept' };
  const { rules } = await ledger.settings.terms(owner.tenant);
  if (isDue(standing.oldest, rules, tools.now())) return { kind: 'kept' };
  const content = await segmentOf(deps, standing, cancel);
  if (content === null) return { kind: 'kept' };
  const name = tools.id('seg');
  const { tenant, lane, memories, oldest } = standing;
  const lastSum = sumOf(content.lines.at(-1));
  const bits = ownerBitsOf(tools, standing);
  const lines = content.lines.length;
  await cold.note({ name, tenant, lane, bits, memories, oldest, lines, lastSum }, tools.now());
  const bytes = await segments.put(name, content);
  if (!(await cold.cool(name, { stamp: standing.stamp, bytes, now: tools.now() }))) {
    await cold.drop(name, tools.now());
    return { kind: 'kept' };
  }
  await removeRows(deps, { ...standing, name }, cancel);
  return { kind: 'cooled', name };
}

/** The checksum that ends a line. */
const sumOf = (line: string | undefined): string => (JSON.parse(line ?? '{"sum":""}') as { sum: string }).sum;

/** What is in the segment goes out of the ledger and the index. */
export async function removeRows(
  { cold, index, tools }: Pick<ColdDeps, 'cold' | 'index' | 'tools'>,
  { name, ...of }: Pick<Segment, 'name' | 'tenant' | 'owner' | 'lane'>,
  cancel: Cancellation,
): Promise<void> {
  await index.forget(of);
  for (let more = true; more; ) {
    if (cancel.aborted) return;
    ({ more } = await cold.slice(name, SLICE, tools.now()));
  }
}

/** Whether retention has something to do, by the oldest of each kind. */
export function isDue(oldest: Oldest, rules: Pick<TenantSettings, 'retention' | 'forgetting'>, now: Millis): boolean {
  const before = limits(rules, now);
  const isOld = (at: Millis | null, limit: Millis | null): boolean => at !== null && limit !== null && at < limit;
  return (
    isOld(oldest.messages, before.messages) ||
    isOld(oldest.plans, before.plans) ||
    isOld(oldest.history, before.history) ||
    isOld(oldest.forgotten, before.forgotten) ||
    isOld(oldest.memories, before.unchanged)
  );
}
