import { inOrder, liveVersion } from '../../memories/evolve.ts';
import { inEffect } from '../../memories/in-effect.ts';
import { normaliseText } from '../../text/normalise.ts';
import { compareSaid, type EventKind, type Memory, type MemoryVersion, type SaidAt, saidBefore } from '../../words.ts';

/** Whether a memory reads so already at a moment; before its first version, as that one reads. */
export function holdsAt(memory: Memory, saidAt: SaidAt, text: string): boolean {
  const held = versionAt(memory, saidAt);
  if (held === undefined) return false;
  // What nobody sees any more has to be said anew, not confirmed.
  const { expiresAt } = held.details;
  const isExpired = expiresAt !== null && expiresAt <= saidAt.at;
  return !isExpired && normaliseText(held.text) === normaliseText(text);
}

/** What a memory said at a moment; before its first version that one, undefined where it was deleted. */
function versionAt(memory: Memory, saidAt: SaidAt): MemoryVersion | undefined {
  if (isDeletedAt(memory, saidAt)) return undefined;
  const versions = inOrder(memory);
  return versions.findLast((version) => !saidBefore(saidAt, version.saidAt)) ?? versions[0];
}

/** The text that held; for a deletion the one it ends, which is a former one where it is told late. */
export function previousOf(before: Memory, kind: EventKind, saidAt: SaidAt): string | null {
  const live = liveVersion(before)?.text ?? null;
  return kind === 'DELETE' ? (versionAt(before, saidAt)?.text ?? live) : live;
}

/** Whether the last that was said of it until then was its deletion. */
export function isDeletedAt({ timeline }: Memory, saidAt: SaidAt): boolean {
  const until = inEffect(timeline).filter((mark) => !saidBefore(saidAt, mark.saidAt));
  const last = until.sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.revision - b.revision).at(-1);
  return last?.kind === 'deleted';
}
