import type { Millis } from '../words.ts';

/** Tokens that an open call of a run may use. Where nobody settles it, since its process died, it lapses. */
export interface Reservation {
  readonly id: string;
  readonly tokens: number;
  readonly until: Millis;
}

export interface AskedReservation {
  readonly id: string;
  /** Of fewer tokens the call has no use; more than `most` it never takes. */
  readonly least: number;
  readonly most: number;
  readonly budget: number;
  readonly now: Millis;
  readonly until: Millis;
}

interface Standing {
  /** By calls that are over. */
  readonly spent: number;
  readonly reserved: readonly Reservation[];
}

export const openAt = (reserved: readonly Reservation[], now: Millis): readonly Reservation[] =>
  reserved.filter(({ until }) => until > now);

/** What is reserved from then on, the last one for this call; null: the budget has no room for it. */
export function withReservation({ spent, reserved }: Standing, asked: AskedReservation): readonly Reservation[] | null {
  const open = openAt(reserved, asked.now);
  const left = asked.budget - open.reduce((sum, { tokens }) => sum + tokens, spent);
  if (left < asked.least) return null;
  return [...open, { id: asked.id, tokens: Math.min(left, asked.most), until: asked.until }];
}
