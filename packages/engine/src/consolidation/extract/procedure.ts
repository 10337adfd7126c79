import type { EngineDeps } from '../../deps.ts';
import { newest } from '../../memories/evolve.ts';
import type { Spoken } from '../../messages/reading.ts';
import { ask } from '../../models/ask.ts';
import { promptUse } from '../../models/call-model.ts';
import { textUnderKeys } from '../../models/parse/answer.ts';
import { PROCEDURE, type ProcedureInput } from '../../models/prompts/procedure.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { inSlices } from '../../slices.ts';
import type { JsonObject, Memory } from '../../words.ts';
import type { Extracted, GatheredTurn } from '../values.ts';
import { admit } from './admit.ts';
import { messageShown } from './infer.ts';
import { cutIntoParts } from './parts.ts';

/** One fact: the complete summary of what an agent did, from one call, or one for each part of a long execution. */
export async function procedure(
  deps: EngineDeps,
  { gathered, spoken }: { gathered: GatheredTurn; spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<Pick<Extracted, 'facts' | 'discards' | 'prompts'>> {
  const steps = spoken.filter(({ message }) => message.role !== 'system');
  const shown = new Map(steps.map((step, i) => [`m${i}`, step]));
  const summaries: string[] = [];
  // No overlap: every output is told once.
  const limits = { tokens: deps.settings.partTokens, overlap: 0, count: deps.tokenizer.count };
  const parts = await inSlices(deps.tools, cutIntoParts(steps, limits));
  for (const [i, part] of parts.entries()) {
    const input: ProcedureInput = { messages: part.messages.map((message, n) => messageShown(`m${n}`, message)) };
    const summary = await ask(
      { deps, turn: gathered.turn, cancel },
      {
        step: i === 0 ? 'procedure' : `procedure:${i + 1}`,
        prompt: PROCEDURE,
        ask: 'Record what the agent did.',
        input: input as unknown as JsonObject,
        shape: textUnderKeys('summary', 'text', 'memory', 'content'),
      },
    );
    summaries.push(summary);
  }
  const raw = { ...WHOLE, text: summaries.join('\n\n'), sourceIds: [...shown.keys()] };
  const admitted = admit([{ raw: steps.length === 0 ? [] : [raw], shown }], {
    inferred: false,
    agent: true,
    categories: [],
  });
  return { ...admitted, prompts: steps.length === 0 ? [] : [promptUse(deps, PROCEDURE)] };
}

/** The category of a procedure: a complete record of what an agent did. */
export const PROCEDURAL = 'procedural';

const WHOLE = { quote: null, category: PROCEDURAL, language: null, validFrom: null, about: 'agent' };

/** Records stand as they are: facts neither change them nor are decided against them. */
export const isProcedure = (memory: Memory): boolean => newest(memory).details.category === PROCEDURAL;
