import type { Tools } from './ports/tools.ts';

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

/** Asks for many things, so many at a time. */
export async function askedInSlices<Asked, Got>(
  { breathe }: Pick<Tools, 'breathe'>,
  asked: readonly Asked[],
  ask: (some: readonly Asked[]) => Promise<Iterable<Got>>,
): Promise<Got[]> {
  const got: Got[] = [];
  for (let from = 0; from < asked.length; from += PER_CALL) {
    got.push(...(await ask(asked.slice(from, from + PER_CALL))));
    await breathe();
  }
  return got;
}
