import { MEASURES } from '@slowwave/engine';
import type { Random } from '../chaos/random.ts';
import type { SimCell } from './cell.ts';
import type { Clock } from './clock.ts';
import { COSTS } from './costs.ts';
import type { Request, SimRouter } from './routers.ts';
import type { BatchNo, OwnerNo, Truth } from './truth.ts';

const HOUR_MS = 3_600_000;
const DAY_H = 24;
const SECOND_MS = 1_000;

/** In the evening people talk most. */
const PEAK_H = 20;

/** How the load of an hour compares with the mean of the day: a bell over the clock whose highest point is what was measured or estimated. */
function shapeOfDay(peak = MEASURES.peak.value): (hour: number) => number {
  const heightOf = (width: number): number => {
    const hours = Array.from({ length: DAY_H * 4 }, (_, i) =>
      Math.exp(width * Math.cos((i * Math.PI * 2) / (DAY_H * 4))),
    );
    return Math.exp(width) / (hours.reduce((sum, one) => sum + one, 0) / hours.length);
  };
  let [low, high] = [0, 50];
  while (high - low > 1e-6) {
    const middle = (low + high) / 2;
    if (heightOf(middle) < peak) low = middle;
    else high = middle;
  }
  return (hour) => peak * Math.exp(low * (Math.cos(((hour - PEAK_H) * Math.PI * 2) / DAY_H) - 1));
}

export interface LoadWorld {
  readonly clock: Clock;
  readonly random: Random;
  readonly truth: Truth;
  readonly cells: ReadonlyMap<string, SimCell>;
  readonly routers: readonly SimRouter[];
  /** How many owners there are, a new one has the next number; and the first few, who talk more than others. */
  readonly owners: { readonly count: () => number; readonly add: () => OwnerNo; readonly few: number };
}

export interface Load {
  readonly ends: number;
  /** Exchanges of an owner in a day. */
  readonly perDay: number;
  /** Owners who come for the first time, a second. */
  readonly newcomers: number;
}

/** Time from a search to the answer of the chat model, when the exchange is posted. */
const ANSWER_MS = 3_000;
/** Why a request has to be sent again: its cell is away, its owner is on the way from one to another, or a router or message was lost. */
type Cause = 'cell' | 'moving' | 'other';

/** The part of all exchanges that a few owners have. */
const OF_FEW = 0.1;
/** A client tries again, after twice the time each time, and at last gives up. */
const FIRST_RETRY_MS = 500;
const MOST_RETRY_MS = 16_000;
const TRIES = 12;

/** Everybody talks as people do, in a Poisson process that follows the day. */
export function startLoad(world: LoadWorld, { ends, perDay, newcomers }: Load) {
  const { clock, random, truth, cells, routers, owners } = world;
  const shape = shapeOfDay();
  const batches = new Map<OwnerNo, BatchNo>();
  const isUp = (cell: string): boolean => cells.get(cell)?.node.isUp === true;
  const counts = { requests: 0, took: [] as number[], again: { cell: 0, moving: 0, other: 0 } };

  const send = (request: Pick<Request, 'owner' | 'work' | 'at'>, then: () => void): void => {
    const began = clock.now();
    let isExplained = false;
    const answered = (): void => {
      counts.took.push(clock.now() - began);
      then();
    };
    const causeOf = (why: Parameters<Request['failed']>[0]): Cause => {
      const home = truth.homeOf(request.owner);
      if (why === 'on its way') return 'moving';
      return home !== null && isUp(home) ? 'other' : 'cell';
    };
    const attempt = (tries: number): void => {
      const failed: Request['failed'] = (why) => {
        const cause = causeOf(why);
        isExplained ||= cause !== 'other';
        counts.again[cause] += 1;
        const wait = Math.min(MOST_RETRY_MS, FIRST_RETRY_MS * 2 ** tries);
        if (tries < TRIES) clock.after(wait, () => attempt(tries + 1));
        else if (!isExplained) truth.note('refused', `owner ${request.owner} by its cell, which is there`);
      };
      const ready = routers.filter(({ isReady }) => isReady());
      if (ready.length === 0) failed('away');
      else random.pick(ready).route({ ...request, answered, failed });
    };
    counts.requests += 1;
    attempt(0);
  };
  const post = (owner: OwnerNo): void => {
    const batch = batches.get(owner) ?? 0;
    batches.set(owner, batch + 1);
    send({ owner, work: COSTS.append, at: (cell) => cell.append(owner, batch) }, () => truth.acknowledged(owner));
  };
  const talk = (owner: OwnerNo): void => {
    const known = truth.acknowledgedOf(owner);
    send({ owner, work: COSTS.search, at: (cell) => cell.search(owner, known) }, () =>
      clock.after(ANSWER_MS, () => post(owner)),
    );
  };
  /** Some post twice at once: both find nobody. */
  const come = (): void => {
    const owner = owners.add();
    post(owner);
    post(owner);
  };
  const again = (perSecond: () => number, what: () => void): void => {
    if (clock.now() >= ends) return;
    clock.after((-Math.log(1 - random.next()) / perSecond()) * SECOND_MS, () => {
      if (clock.now() < ends) what();
      again(perSecond, what);
    });
  };
  const hourAt = (): number => PEAK_H + (clock.now() - ends / 2) / HOUR_MS;
  again(
    () => (owners.count() * perDay * shape(hourAt())) / (DAY_H * (HOUR_MS / SECOND_MS)),
    () => talk(random.between(0, (random.chance(OF_FEW) ? owners.few : owners.count()) - 1)),
  );
  if (newcomers > 0) again(() => newcomers, come);
  return counts;
}
