import { normaliseText } from '../../text/normalise.ts';
import { compareSaid, type Memory, type MemoryVersion, type SaidAt, saidBefore } from '../../words.ts';
import { inOrder } from '../evolve.ts';
import { inEffect } from '../in-effect.ts';

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
export function versionAt(memory: Memory, saidAt: SaidAt): MemoryVersion | undefined {
  if (isDeletedAt(memory, saidAt)) return undefined;
  const versions = inOrder(memory);
  return versions.findLast((version) => !saidBefore(saidAt, version.saidAt)) ?? versions[0];
}

/** Whether the last that was said of it until then was its deletion. */
export function isDeletedAt({ timeline }: Memory, saidAt: SaidAt): boolean {
  const until = inEffect(timeline).filter((mark) => !saidBefore(saidAt, mark.saidAt));
  const last = until.sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.revision - b.revision).at(-1);
  return last?.kind === 'deleted';
}
