import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { isLastTry } from './away.ts';

/** An answer broke off, and so did its repair: asked about less at once, the same model may come to an end. */
export class BrokenOffError extends EngineError {}

/** Why less is asked about at once: an answer did not come to its end, or the question does not fit the model's window. */
export type Halved = 'broke_off' | 'too_long';

/** A question about much at once, and how it is asked about less. */
interface Halving<Part, Got> {
  ask(part: Part, step: string): Promise<Got>;
  /** null: it can be no smaller. */
  halve(part: Part, why: Halved): Promise<readonly Part[] | null>;
  /** Whether nothing else is left before what is asked about is parked. */
  isLast(): Promise<boolean>;
  /** How much a part asks about, in any unit: what is as much as what a model had no room for is halved without asking. */
  sizeOf?(part: Part): number;
  /** Kept from one part to the next: the smallest that there was no room for. */
  readonly refused?: { size: number };
}

/**
 * What is answered to a question, or to its halves. What does not fit the model's window is asked about in halves at once; where all
 * would be parked because the answer breaks off, it is asked about less first, and the answers are shorter.
 */
export async function inHalves<Part, Got>(
  halving: Halving<Part, Got>,
  part: Part,
  step: string,
): Promise<readonly Got[]> {
  const { sizeOf = () => 0, refused = { size: Number.POSITIVE_INFINITY } } = halving;
  const answersOf = async (halves: readonly Part[]): Promise<readonly Got[]> => {
    const got: Got[] = [];
    for (const [i, half] of halves.entries()) got.push(...(await inHalves(halving, half, `${step}/${i + 1}`)));
    return got;
  };
  const known =
    Number.isFinite(refused.size) && sizeOf(part) >= refused.size ? await halving.halve(part, 'too_long') : null;
  if (known !== null) return answersOf(known);
  try {
    return [await halving.ask(part, step)];
  } catch (error) {
    const why = await whyHalved(error, halving);
    const halves = why === null ? null : await halving.halve(part, why);
    if (halves === null) throw error;
    if (why === 'too_long') refused.size = Math.min(refused.size, sizeOf(part));
    return answersOf(halves);
  }
}

async function whyHalved(
  error: unknown,
  { isLast }: Pick<Halving<unknown, unknown>, 'isLast'>,
): Promise<Halved | null> {
  if (!(error instanceof EngineError)) return null;
  if (error.code === 'context_too_long') return 'too_long';
  return error instanceof BrokenOffError && (!error.retryable || (await isLast())) ? 'broke_off' : null;
}

/** Of a consolidation: before that its window is halved until a batch is alone. */
export const isLastOfTurn = async (deps: EngineDeps, turn: Turn): Promise<boolean> =>
  turn.batchIds.length === 1 && (await isLastTry(deps, turn));
