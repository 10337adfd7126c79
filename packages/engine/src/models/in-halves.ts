import type { EngineDeps } from '../deps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { BrokenOffError } from './ask.ts';
import { isLastTry } from './doubt.ts';

/** A question about much at once, and how it is asked about less. */
export interface Halving<Part, Got> {
  ask(part: Part, step: string): Promise<Got>;
  /** null: it can be no smaller. */
  halve(part: Part): Promise<readonly Part[] | null>;
  /** Whether nothing else is left before what is asked about is parked. */
  isLast(): Promise<boolean>;
}

/**
 * What is answered to a question, or to its halves: where all would be parked because the answer breaks off, it is asked
 * about less at once first, and the answers are shorter.
 */
export async function inHalves<Part, Got>(
  halving: Halving<Part, Got>,
  part: Part,
  step: string,
): Promise<readonly Got[]> {
  try {
    return [await halving.ask(part, step)];
  } catch (error) {
    if (!(error instanceof BrokenOffError) || !(await halving.isLast())) throw error;
    const halves = await halving.halve(part);
    if (halves === null) throw error;
    const got: Got[] = [];
    for (const [i, half] of halves.entries()) got.push(...(await inHalves(halving, half, `${step}/${i + 1}`)));
    return got;
  }
}

/** Of a consolidation: before that its window is halved until a batch is alone. */
export const isLastOfTurn = async (deps: EngineDeps, turn: Turn): Promise<boolean> =>
  turn.batchIds.length === 1 && (await isLastTry(deps, turn));
