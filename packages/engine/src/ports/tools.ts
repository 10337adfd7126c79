import type { Millis } from '../words.ts';

/** Time, ids, hashing and a pause: what the engine can't make itself. */
export interface Tools {
  now(): Millis;
  /** A new id, time-ordered, e.g. id('mem') → 'mem_01j9…'. */
  id(kind: IdKind): string;
  /** A stable hex digest of a text. */
  hash(text: string): string;
  /**
   * Lets others run, where this has taken milliseconds without waiting for anything: long loops call it each time round,
   * so that nobody who shares the process waits for their end.
   */
  breathe(): Promise<void>;
}

export type IdKind =
  | 'bat'
  | 'msg'
  | 'lane'
  | 'con'
  | 'mem'
  | 'evt'
  | 'led'
  | 'rev'
  | 'ers'
  | 'rpl'
  | 'und'
  | 'key'
  | 'whk'
  | 'ent'
  | 'sta'
  | 'aud';

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
