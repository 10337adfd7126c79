import { DAY_MS, dayOf } from '../text/dates.ts';
import type { Millis } from '../words.ts';

/**
 * What a tenant may use on a day is divided among cells: each has a share of it, and all together never have more than the whole.
 *
 *   A share grows in the directory first, and then in the cell, which is told.
 *   It shrinks in the cell first, which keeps what it has used, and then in the directory, by what the cell answers.
 *   So the directory never says less than a cell has, and gives only what nobody has by what it says.
 *
 * What a cell is told is in order by an epoch: it does not hear what is older than what it has. A share is a lease to the end of a day: a cell that cannot
 * be reached keeps it until then, and goes on with the least afterwards, as the directory assumes.
 */

/** What a cell has when its lease is over: enough to begin with. */
export const LEAST_SHARE = 0.001;

/** Clocks differ by less. */
const CLOCKS_DIFFER_MS = 600_000;

/** Shares are given for at least so long. */
const LEASE_MS = 6 * 3_600_000;

/** The end of a day, which is where counts begin anew. */
export const leaseUntil = (now: Millis): Millis => (dayOf(now + LEASE_MS) + 1) * DAY_MS;

/** From then on a lease is renewed. */
export const renewedFrom = (until: Millis): Millis => until - LEASE_MS;

/** A part of what a tenant may use on a day: 0 to 1. */
interface Lease {
  readonly part: number;
  /** null: for good, as long as it is the only cell. */
  readonly until: Millis | null;
}

/** What a cell may use now. */
export const partAt = ({ part, until }: Lease, now: Millis): number =>
  until === null || now < until ? part : Math.min(part, LEAST_SHARE);

/** What the directory assumes that a cell may use, whose clock is another one. */
export const partAssumed = (lease: Lease, now: Millis): number => partAt(lease, now - CLOCKS_DIFFER_MS);

/** A share as the directory has it. */
export interface KeptShare extends Lease {
  readonly cell: string;
  readonly epoch: number;
}

export interface AskedShare {
  readonly cell: string;
  readonly part: number;
  readonly until: Millis;
  /** The cell has heard this epoch: what it is told next has a later one. */
  readonly after: number;
}

/** What a cell may be told, and what the directory says from now on: at least what the cell has, whether it hears that or not. */
export function granted(
  all: readonly KeptShare[],
  asked: AskedShare,
  now: Millis,
): { readonly told: KeptShare; readonly kept: KeptShare } {
  const before = all.find(({ cell }) => cell === asked.cell);
  const others = all.filter(({ cell }) => cell !== asked.cell);
  const free = Math.max(0, 1 - others.reduce((sum, lease) => sum + partAssumed(lease, now), 0));
  const part = Math.min(asked.part, free);
  const epoch = Math.max(before?.epoch ?? 0, asked.after) + 1;
  const told = { cell: asked.cell, epoch, part, until: asked.until };
  if (before === undefined) return { told, kept: told };
  const until = before.until === null ? null : Math.max(before.until, asked.until);
  return { told, kept: { ...told, part: Math.max(partAssumed(before, now), part), until } };
}

/** What is known of a cell when shares are divided. */
export interface SeenShare {
  readonly cell: string;
  /** What it has, by the directory. */
  readonly part: number;
  /** What it has used today, of the whole; null: it does not answer. */
  readonly used: number | null;
  /** It is about to run out. */
  readonly wants: boolean;
}

interface Division {
  readonly parts: ReadonlyMap<string, number>;
  /** Nothing is left that could be divided again. */
  readonly isLast: boolean;
}

/** What cells that want nothing keep together, of what nobody has used. */
const QUIET_PART = 0.1;
/** So much more counts what is used by a cell that has just begun. */
const BEGINNER = 0.05;
/** Less is not worth being divided. */
const LAST = 0.005;

/** Each cell keeps what it has used. What nobody has used goes to the cells that want more, in proportion to what they have used. */
export function divided(seen: readonly SeenShare[]): Division {
  const silent = seen.filter(({ used }) => used === null).reduce((sum, { part }) => sum + part, 0);
  const known = seen.flatMap(({ cell, part, used, wants }) =>
    used === null ? [] : [{ cell, wants, base: Math.max(used, LEAST_SHARE), part, weight: used + BEGINNER }],
  );
  const rest = Math.max(0, 1 - silent - known.reduce((sum, { base }) => sum + base, 0));
  const [wanting, quiet] = [known.filter(({ wants }) => wants), known.filter(({ wants }) => !wants)];
  const parts = new Map<string, number>();
  let left = rest;
  for (const { cell, base, part } of quiet) {
    const most = wanting.length === 0 ? Number.POSITIVE_INFINITY : (rest * QUIET_PART) / quiet.length;
    const room = Math.min(Math.max(0, part - base), most, left);
    parts.set(cell, base + room);
    left -= room;
  }
  const weights = wanting.reduce((sum, { weight }) => sum + weight, 0);
  for (const { cell, base, weight } of wanting) parts.set(cell, base + (left * weight) / weights);
  return { parts, isLast: rest < LAST && known.length === seen.length };
}
