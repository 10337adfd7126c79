import { normaliseText } from '../../text/normalise.ts';
import { compareSaid, type Memory, type SaidAt, saidBefore } from '../../words.ts';

/** Whether a memory reads so already at a moment; before its first version, as that one reads. */
export function holdsAt(memory: Memory, saidAt: SaidAt, text: string): boolean {
  const inOrder = [...memory.versions].sort((a, b) => compareSaid(a.saidAt, b.saidAt));
  const held = inOrder.findLast((version) => !saidBefore(saidAt, version.saidAt)) ?? inOrder[0];
  return held !== undefined && normaliseText(held.text) === normaliseText(text);
}
