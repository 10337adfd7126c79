import type { Priority } from '../words.ts';

/** About as many as one person looks through and waits for; more of them are the aftermath of a failure. */
const LIVE_MAX = 20;

/** What batches become that are replayed together; null: they stay what they were. */
export const replayPriority = (count: number): Priority | null => (count > LIVE_MAX ? 'backfill' : null);
