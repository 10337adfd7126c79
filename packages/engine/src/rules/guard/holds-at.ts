import { normaliseText } from '../../text/normalise.ts';
import { compareSaid, type Memory, type SaidAt, saidBefore } from '../../words.ts';
import { inOrder } from '../evolve.ts';

/** Whether a memory reads so already at a moment; before its first version, as that one reads. */
export function holdsAt(memory: Memory, saidAt: SaidAt, text: string): boolean {
  if (isDeletedAt(memory, saidAt)) return false;
  const versions = inOrder(memory);
  const held = versions.findLast((version) => !saidBefore(saidAt, version.saidAt)) ?? versions[0];
  if (held === undefined) return false;
  // What nobody sees any more has to be said anew, not confirmed.
  const { expiresAt } = held.details;
  const isExpired = expiresAt !== null && expiresAt <= saidAt.at;
  return !isExpired && normaliseText(held.text) === normaliseText(text);
}

/** Whether the last that was said of it until then was its deletion. */
function isDeletedAt({ timeline }: Memory, saidAt: SaidAt): boolean {
  const until = timeline.filter((mark) => !saidBefore(saidAt, mark.saidAt));
  const last = until.sort((a, b) => compareSaid(a.saidAt, b.saidAt) || a.revision - b.revision).at(-1);
  return last?.kind === 'deleted';
}
