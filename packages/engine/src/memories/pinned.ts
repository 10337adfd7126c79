import type { Memory } from '../words.ts';
import { inEffect } from './in-effect.ts';

/** Whether the last word on it was that it is pinned: consolidations and corrections of its text have none. */
export function isPinned({ timeline }: Memory): boolean {
  const words = inEffect(timeline).flatMap((mark) => (mark.kind === 'said' ? (mark.details.pinned ?? []) : []));
  return words.at(-1) ?? false;
}
