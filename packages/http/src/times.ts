import type { MessageBody } from '@slowwave/contracts';
import { problem } from './problem.ts';

/** Further ahead than any local time is ahead of another (26 hours, in theory; nobody talks between those two islands). */
const AHEAD_MAX_MS = 24 * 3_600_000;

interface Timed {
  readonly timestamp?: string | undefined;
  readonly messages: readonly Pick<MessageBody, 'timestamp'>[];
}

/** Refuses what claims to have been said more than a day from now: a wrong unit or a wrong year, not a wrong zone. */
export function checkTimes({ timestamp, messages }: Timed, now: number): void {
  refuseAhead('timestamp', timestamp, now);
  for (const [i, message] of messages.entries()) refuseAhead(`messages[${i}].timestamp`, message.timestamp, now);
}

function refuseAhead(path: string, timestamp: string | undefined, now: number): void {
  if (timestamp === undefined || Date.parse(timestamp) - now <= AHEAD_MAX_MS) return;
  const message =
    `expected a time at most 24 hours in the future, got ${timestamp}; it is ${new Date(now).toISOString()}. ` +
    'Send the time when the message was said, with the UTC offset of the speaker, like 2026-03-01T09:30:00+09:00';
  throw problem('invalid_request', `${path}: ${message}`, { errors: [{ path, message }] });
}
