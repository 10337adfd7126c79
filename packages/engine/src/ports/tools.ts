import type { Millis, OwnerBits } from '../words.ts';

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
export type OwnedKind = 'bat' | 'msg' | 'lane' | 'con' | 'mem' | 'rev' | 'und' | 'ent' | 'sta' | 'rcp';

/** What has none, or several; and erasures, since what stays of one must not say whose it was. */
export type FreeKind =
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
