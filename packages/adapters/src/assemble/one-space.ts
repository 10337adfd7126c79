import { AsyncLocalStorage } from 'node:async_hooks';

/** What a piece of work has chosen, each by what it chose from. */
interface Choices {
  readonly made: Map<object, unknown>;
  /** Somebody waits for it. */
  readonly isAwaited: boolean;
}

const CHOICES = new AsyncLocalStorage<Choices>();

/**
 * Carries out a request or a turn. While an index moves, it asks one embedder and searches the index of that one from its
 * beginning to its end, whatever is switched meanwhile: vectors of two embedders never meet.
 */
export const inOneSpace = <T>(work: () => T, { isAwaited = false } = {}): T =>
  CHOICES.run({ made: new Map(), isAwaited }, work);

/** A request, whose caller waits. */
export const inOneSpaceForCaller = (work: () => void): void => inOneSpace(work, { isAwaited: true });

/** The handler of a job, so that each job is carried out in one space. */
export const eachInOneSpace =
  <Args extends unknown[], T>(handler: (...args: Args) => T): ((...args: Args) => T) =>
  (...args) =>
    inOneSpace(() => handler(...args));

/** What this piece of work chose first, and chooses now if it has not. */
export function chosen<T>(from: object, choose: () => T): T {
  const choices = CHOICES.getStore();
  if (choices === undefined) return choose();
  if (!choices.made.has(from)) choices.made.set(from, choose());
  return choices.made.get(from) as T;
}

export const isAwaited = (): boolean => CHOICES.getStore()?.isAwaited ?? false;
