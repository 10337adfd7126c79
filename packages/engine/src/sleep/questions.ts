import type { Asking } from '../models/ask.ts';
import type { Prompt } from '../models/prompts/prompt.ts';
import type { SleepSettings } from '../settings.ts';
import { estimateTokens } from '../text/normalise.ts';

/** An answer that cannot be read is asked for once more. */
const CALLS_OF_ONE = 2;
/** More than an answer about a group has, and the frame of its question. */
const ANSWER_TOKENS = 1_000;

/** The questions of one night, numbered in their order, with what all of them may use. */
export class Questions {
  readonly #asking: Asking;
  readonly #limits: Pick<SleepSettings['limits'], 'calls' | 'tokens'>;
  #asked = 0;

  constructor(asking: Asking, limits: Pick<SleepSettings['limits'], 'calls' | 'tokens'>) {
    this.#asking = asking;
    this.#limits = limits;
  }

  /**
   * What the next question is called among the answers of the night; null: those before have used so much that another one might be
   * too much. The same before a crash and after it.
   */
  async next({ system }: Prompt, texts: readonly string[]): Promise<string | null> {
    const asks = [system, ...texts].reduce((sum, text) => sum + estimateTokens(text), ANSWER_TOKENS);
    if (await this.#isSpent(asks)) return null;
    this.#asked += 1;
    return `sleep:${this.#asked}`;
  }

  async #isSpent(asks: number): Promise<boolean> {
    const { deps, turn } = this.#asking;
    const { calls, tokens } = this.#limits;
    const answers = await deps.ledger.thoughts.answers(turn.consolidationId);
    const used = answers.filter(({ step }) => Number(step.split(':')[1]) <= this.#asked);
    const spent = used.reduce((sum, { usage }) => sum + usage.promptTokens + usage.completionTokens, 0);
    return used.length + CALLS_OF_ONE > calls || spent + asks > tokens;
  }
}
