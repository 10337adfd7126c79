import type { EngineErrorCode } from '../errors.ts';
import type { FiguresOfModel } from '../figures/figures.ts';
import type { Attack } from '../messages/messages.ts';
import type { FactOutcome } from '../plan.ts';
import type { Millis, OwnerBits, TenantId } from '../words.ts';
import type { Turn } from './ledger/lanes.ts';
import type { Cause } from './ledger/usage.ts';
import type { TokenUse } from './models.ts';

/** Time, ids, hashing and a pause: what the engine can't make itself. */
export interface Tools {
  now(): Millis;
  /** A new id, time-ordered, e.g. id('key') → 'key_01j9…'. The id of something that has an owner carries its bits. */
  id(kind: FreeKind): string;
  id(kind: OwnedKind, owner: OwnerBits): string;
  /** A stable hex digest of a text. */
  hash(text: string): string;
  /**
   * Lets others run, where this has taken milliseconds without waiting for anything: long loops call it each time round,
   * so that nobody who shares the process waits for their end.
   */
  breathe(): Promise<void>;
}

/** What has an owner. A study goes by the id of its consolidation. */
type OwnedKind = 'bat' | 'msg' | 'lane' | 'con' | 'mem' | 'rev' | 'und' | 'ent' | 'sta' | 'rcp';

/** What has none, or several; and erasures, since what stays of one must not say whose it was. */
type FreeKind =
  | (
      | 'led'
      | 'ers'
      | 'dep'
      | 'imp'
      | 'rpl'
      | 'cny'
      | 'sui'
      | 'sca'
      | 'key'
      | 'lnk'
      | 'whk'
      | 'aud'
      | 'cal'
      | 'hld'
      | 'mov'
      | 'hov'
      | 'chg'
    )
  | ('blk' | 'ask' | 'seg');

export type IdKind = OwnedKind | FreeKind;

/** An AbortSignal, as far as the engine and its ports need one. */
export interface Cancellation {
  readonly aborted: boolean;
  /** Why it was aborted. An EngineError: the work has failed so; anything else: the worker stops. */
  readonly reason?: unknown;
  addEventListener(type: 'abort', listener: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: 'abort', listener: () => void): void;
}

/** Nobody aborts it. */
export const NEVER: Cancellation = { aborted: false, addEventListener: () => {}, removeEventListener: () => {} };

/** Structured lines about what happens. Never contents of messages or memories. */
export interface Log {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/**
 * A long piece of work that can rest after each of its steps. Each step takes a few milliseconds at most, whatever a model has
 * answered: what grows with the square of it is cut into rows.
 */
export type Sliced<T> = Generator<void, T>;

/** Carries such work out; others who share the process go on in between. */
export async function inSlices<T>({ breathe }: Pick<Tools, 'breathe'>, work: Sliced<T>): Promise<T> {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
    await breathe();
  }
}

/** The same without a rest, where it is known to be short. */
export function atOnce<T>(work: Sliced<T>): T {
  for (;;) {
    const step = work.next();
    if (step.done === true) return step.value;
  }
}

/** Things that are asked for in one call: what it brings comes to this thread in one piece. */
const PER_CALL = 64;

/** A list in portions of at most so many. */
export const portionsOf = <T>(list: readonly T[], size: number): (readonly T[])[] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size));

/** Asks for many things, so many at a time. */
export async function askedInSlices<Asked, Got>(
  { breathe }: Pick<Tools, 'breathe'>,
  asked: readonly Asked[],
  ask: (some: readonly Asked[]) => Promise<Iterable<Got>>,
): Promise<Got[]> {
  const got: Got[] = [];
  for (const some of portionsOf(asked, PER_CALL)) {
    got.push(...(await ask(some)));
    await breathe();
  }
  return got;
}

/** What a measured thing belongs to: ids only. */
export type TurnIds = Pick<Turn, 'consolidationId' | 'epoch' | 'lane' | 'batchIds' | 'attempts'>;

export interface Measured {
  readonly startedAt: Millis;
  readonly endedAt: Millis;
}

export interface MeasuredStep extends Measured {
  readonly step: string;
  readonly failed: boolean;
}

/** One call that a model was really asked. */
export interface MeasuredCall extends Measured {
  /** What it was asked for, e.g. extract_facts. */
  readonly kind: string;
  readonly model: string;
  /** null: counted to nobody. */
  readonly cause: Cause | null;
  /** null: answered. */
  readonly failure: EngineErrorCode | 'unknown' | null;
  readonly usage: TokenUse;
  /** In the currency of the tenant's prices; 0 where the model has no price. */
  readonly cost: number;
}

/** How one try to consolidate ended. `waits`: only too early, no try was counted. */
export type TurnOutcome = 'applied' | 'waits' | 'given_back' | 'retry' | 'split' | 'parked' | 'fenced';

export interface MeasuredTurn extends Measured {
  readonly outcome: TurnOutcome;
  /** What it failed of or waits for; null where it did neither. */
  readonly reason: EngineErrorCode | null;
}

/** A batch that was just made durable. */
export interface Acknowledged extends Measured {
  readonly batchId: string;
  /** The same request came before: its batch was there already. */
  readonly repeated: boolean;
  /** The W3C trace context the request came with. */
  readonly traceparent: string | null;
  /** Its messages that claim to be said later than it was accepted. */
  readonly fromTheFuture: number;
}

/** A review that was settled, a consolidation that was undone, a rating, the outcome of an answer. */
export type OpinionKind = 'review' | 'undo' | 'rating' | 'outcome';
export type OpinionGiven = 'for' | 'against';

/**
 * Learns what the engine did, for metrics and traces: ids, counts and times, never contents. It never throws, and
 * nobody waits for it.
 */
export interface Meter {
  step(turn: TurnIds, step: MeasuredStep): void;
  /** `turn` is null for calls outside of a consolidation, such as those for summaries. */
  call(turn: TurnIds | null, call: MeasuredCall): void;
  turn(turn: TurnIds, end: MeasuredTurn): void;
  /** How the facts of an applied plan ended. */
  facts(outcomes: readonly FactOutcome[]): void;
  /** What messages of an applied plan tried that address the model. */
  attacks(kinds: readonly Attack[]): void;
  /** What was measured of an applied plan. Never of a shadow space. */
  figures(tenant: TenantId, measured: FiguresOfModel): void;
  /** What somebody, or an outcome, said of what is remembered. */
  opinions(tenant: TenantId, kind: OpinionKind, given: readonly OpinionGiven[]): void;
  /** How long batches took from their acceptance to the search, one figure per batch. */
  searchable(waited: readonly Millis[]): void;
}

/** Measures nothing. */
export const silentMeter: Meter = {
  step: () => {},
  call: () => {},
  turn: () => {},
  facts: () => {},
  attacks: () => {},
  figures: () => {},
  opinions: () => {},
  searchable: () => {},
};
