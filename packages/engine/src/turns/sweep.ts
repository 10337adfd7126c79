import type { EngineDeps } from '../deps.ts';
import { CLOCK_AHEAD_MS, type DueMark } from '../ports/ledger/lanes.ts';
import { type Ledger, slicesOf } from '../ports/ledger/ledger.ts';
import type { Nudge, Schedule, TurnState } from '../ports/schedule.ts';
import type { LaneId, Millis } from '../words.ts';

/** Lanes looked at in one pass; the next pass, a second later, goes on with those after them. */
const LANES_MAX = 1_000;

/**
 * Finds due lanes the queue does not know of: after a nudge that was lost, a queue that was wiped, or a job that ended
 * without its lane moving on. Selects from the ledger alone. Every pass begins where the one before ended, so that
 * thousands of due lanes of one tenant hide nobody else's. Answers with how many turns it scheduled.
 */
export function laneSweep(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  schedule: Schedule,
): () => Promise<number> {
  let after: DueMark | undefined;
  let nudged = NOBODY_NUDGED;
  const mindClock = clockMinder(ledger);
  let nudging = new Map<LaneId, number>();
  const listen = listener(schedule);
  return async () => {
    const now = tools.now();
    await mindClock(now);
    const due = await ledger.lanes.due(now, LANES_MAX, after);
    after = due.length < LANES_MAX ? undefined : due.at(-1);
    const known = await listen(due, now);
    const missing = await missingOf(known, { ledger, now, nudged });
    await schedule.nudge(missing);
    for (const { lane, generation } of missing) nudging.set(lane, generation);
    // All due lanes were looked at: who is missing the next time was nudged in vain.
    if (after === undefined) [nudged, nudging] = [nudging, new Map()];
    await hurryOldest(schedule, known, now);
    return missing.length;
  };
}

interface Known {
  readonly turn: Nudge;
  readonly state: TurnState;
}

/** How often it is looked for lanes whose time came from the clock of another process. */
const AHEAD_EVERY_MS = 10_000;
/** Looks at which a clock that goes on has noted something later, also where its process is slow: it does every other time. */
const STAYED_LOOKS = 4;

/**
 * Nobody waits for a clock that was ahead to come there again. This process sees its own clock set back. That of another one
 * is seen by the messages it took, and by what it noted: a clock that was ahead and shows nothing later any more was set back,
 * or its process ended. While it goes on there, what it names is left to it.
 */
function clockMinder({ lanes }: Ledger): (now: Millis) => Promise<void> {
  let seen: Millis = 0;
  let lookedAt = Number.NEGATIVE_INFINITY;
  let noted: Millis = 0;
  let unchanged = STAYED_LOOKS; // whoever has just begun waits for nobody
  let wasSetBack = false;
  return async (now) => {
    const isOwn = now < seen - CLOCK_AHEAD_MS;
    if (!isOwn) seen = Math.max(seen, now);
    if (!isOwn && Math.abs(now - lookedAt) < AHEAD_EVERY_MS) return;
    const latest = await lanes.clockSeen(now);
    if (noted > 0) unchanged = latest === noted ? unchanged + 1 : 0;
    const isOver = latest > now + CLOCK_AHEAD_MS && unchanged >= STAYED_LOOKS;
    const isSetBack = isOwn || isOver;
    // Once more at the next look: what was under way when the clock was set back may have written a time of before since.
    await lanes.clockSetBack(now, { all: isSetBack || wasSetBack });
    [seen, lookedAt, noted, wasSetBack] = [now, now, latest, isSetBack];
  };
}

/** The turns that were nudged a moment ago, with their generations. */
type Nudged = ReadonlyMap<LaneId, number>;

const NOBODY_NUDGED: Nudged = new Map();

/** What the queue had a moment ago it still has, as a rule: longer ago counts as never asked. */
const HEARD_MS = 60_000;
/** Turns of those that are asked about again each time, the longest ago first. A queue that lost everything is noticed at once. */
const SAMPLE = 100;

/** What the queue said of a turn, and when. */
interface Heard extends Known {
  readonly at: Millis;
}

/** Asks the queue about turns that are new, and about some of the others. If one of those is gone, it is asked about all of them. */
function listener(schedule: Schedule): (turns: readonly Nudge[], now: Millis) => Promise<readonly Known[]> {
  const heard = new Map<LaneId, Heard>();
  const ask = async (turns: readonly Nudge[], now: Millis): Promise<void> => {
    for (const one of await askAbout(schedule, turns)) heard.set(one.turn.lane, { ...one, at: now });
  };
  return async (turns, now) => {
    const old = turns.filter((turn) => isFresh(heard.get(turn.lane), turn, now));
    const heardAt = ({ lane }: Nudge): Millis => heard.get(lane)?.at ?? 0;
    const sample = old.toSorted((a, b) => heardAt(a) - heardAt(b)).slice(0, SAMPLE);
    const left = new Set(old);
    for (const turn of sample) left.delete(turn);
    await ask(
      turns.filter((turn) => !left.has(turn)),
      now,
    );
    if (sample.some(({ lane }) => heard.get(lane)?.state === 'absent')) await ask([...left], now);
    for (const [lane, { at }] of heard) if (Math.abs(now - at) > HEARD_MS) heard.delete(lane);
    return turns.map((turn) => ({ turn, state: heard.get(turn.lane)?.state ?? 'absent' }));
  };
}

const isFresh = (last: Heard | undefined, { generation }: Nudge, now: Millis): boolean =>
  last !== undefined &&
  last.turn.generation === generation &&
  (last.state === 'scheduled' || last.state === 'active') &&
  Math.abs(now - last.at) < HEARD_MS;

async function askAbout(schedule: Schedule, turns: readonly Nudge[]): Promise<readonly Known[]> {
  const states = await schedule.statesOf(turns);
  return turns.map((turn, i) => ({ turn, state: states[i] ?? 'absent' }));
}

interface Now {
  readonly ledger: Ledger;
  readonly now: Millis;
  readonly nudged: Nudged;
}

async function missingOf(known: readonly Known[], at: Now): Promise<Nudge[]> {
  const missing: Nudge[] = [];
  for (const one of known) {
    // A job of the same name would make the queue ignore a new one: only another generation is heard.
    const nudge = isDeaf(one, at) ? await at.ledger.lanes.raise(one.turn) : one.state === 'absent' ? one.turn : null;
    if (nudge !== null) missing.push(nudge);
  }
  return missing;
}

/** Whether the turn will not be worked under its name, however often the queue hears of it. */
function isDeaf({ turn, state }: Known, { now, nudged }: Now): boolean {
  if (state === 'absent') return nudged.get(turn.lane) === turn.generation;
  return state === 'finished' || (state === 'asleep' && turn.dueAt <= now);
}

/** How long backfill waits for a moment without live work. After that it gets a small share of the workers. */
const BACKFILL_PATIENCE_MS = 10 * 60_000;

/** One turn a pass: enough that backfill moves on while live work never ends, too little for anybody to notice. */
async function hurryOldest(schedule: Schedule, known: readonly Known[], now: number): Promise<void> {
  const isStuck = ({ turn, state }: Known): boolean =>
    turn.priority === 'backfill' && state === 'scheduled' && turn.dueAt < now - BACKFILL_PATIENCE_MS;
  for (const { turn } of known.filter(isStuck)) if (await schedule.hurry(turn)) return;
}

export interface QueueRebuilt {
  /** Lanes with work, due now or later. */
  readonly lanes: number;
  /** Turns of theirs that the queue did not have. */
  readonly scheduled: number;
}

/** Small enough to be asked for and nudged in one go. */
const LANES_PER_PAGE = 500;

/**
 * Gives the queue every turn that the ledger knows of, due or not. Whatever it has already stays as it is, so that this
 * may run at any time and again. Workers do the same with lanes that are due; this does not wait for that.
 */
export async function rebuildQueue(
  deps: Pick<EngineDeps, 'ledger' | 'tools'>,
  schedule: Schedule,
  onProgress: (rebuilt: QueueRebuilt) => void = () => {},
): Promise<QueueRebuilt> {
  let rebuilt: QueueRebuilt = { lanes: 0, scheduled: 0 };
  const withWork = (last: Nudge | null, limit: number) => deps.ledger.lanes.withWork(last?.lane ?? null, limit);
  for await (const nudges of slicesOf(withWork, LANES_PER_PAGE)) {
    const missing = await missingTurns(deps, schedule, nudges);
    await schedule.nudge(missing);
    rebuilt = { lanes: rebuilt.lanes + nudges.length, scheduled: rebuilt.scheduled + missing.length };
    onProgress(rebuilt);
  }
  return rebuilt;
}

/** The turns that the queue has no job for, in the generation under which it hears of them. */
async function missingTurns(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  schedule: Schedule,
  turns: readonly Nudge[],
): Promise<Nudge[]> {
  return missingOf(await askAbout(schedule, turns), { ledger, now: tools.now(), nudged: NOBODY_NUDGED });
}
