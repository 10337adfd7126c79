import type { EngineDeps } from '../../deps.ts';
import type { Spoken } from '../../messages/reading.ts';
import { clockText } from '../../messages/said-when.ts';
import { type Asking, ask, inHalves, isLastOfTurn } from '../../models/ask.ts';
import { promptUse } from '../../models/call-model.ts';
import { factsIn } from '../../models/parse/facts.ts';
import { DEFAULT_CATEGORIES, EXTRACT, type ExtractInput } from '../../models/prompts/extract.ts';
import { customPrompt, type Prompt } from '../../models/prompts/prompt.ts';
import type { Cancellation } from '../../ports/tools.ts';
import type { TenantSettings } from '../../settings.ts';
import { inSlices } from '../../slices.ts';
import { cleanText } from '../../text/normalise.ts';
import type { JsonObject } from '../../words.ts';
import type { Extracted, GatheredTurn } from '../values.ts';
import { admitting, type Found } from './admit.ts';
import { contextOf } from './context.ts';
import { cutIntoParts, type Part } from './parts.ts';
import { halvingParts, partLimits } from './parts-of-window.ts';

/** Finds the facts in what was said: one call, or one for each part of a window that is too long for one. */
export async function infer(
  deps: EngineDeps,
  { gathered, spoken }: { gathered: GatheredTurn; spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<Pick<Extracted, 'facts' | 'discards' | 'prompts'>> {
  const { turn, rules } = gathered;
  const prompt = promptOf(rules);
  const found: Found[] = [];
  const parts = await inSlices(deps.tools, cutIntoParts(spoken, partLimits(deps)));
  for (const [i, part] of parts.entries()) {
    const step = i === 0 ? 'extract' : `extract:${i + 1}`;
    found.push(...(await readPart({ deps, turn, cancel, gathered, prompt }, part, step)));
  }
  const categories = rules.categories ?? DEFAULT_CATEGORIES;
  const admission = { inferred: true, agent: turn.scope.agentId !== null, categories };
  const admitted = await inSlices(deps.tools, admitting(found, admission));
  return { ...admitted, prompts: [promptUse(deps, prompt)] };
}

interface Inferring extends Asking {
  readonly gathered: GatheredTurn;
  readonly prompt: Prompt;
}

/** What one part tells, or each half of it where its answer breaks off. */
function readPart(inferring: Inferring, part: Part, step: string): Promise<readonly Found[]> {
  const { deps, turn, gathered, prompt } = inferring;
  const readOne = async (one: Part, as: string): Promise<Found> => {
    const shown = new Map(one.messages.map((message, n) => [`m${n}`, message]));
    const input = inputOf(gathered, { part: one, shown, recentMessages: deps.settings.recentMessages });
    const question = { step: as, prompt, ask: 'Find the facts.', input, shape: factsIn };
    const { items, unread } = await ask(inferring, question);
    return { raw: items, unread, shown };
  };
  const halving = { ask: readOne, halve: halvingParts(deps), isLast: () => isLastOfTurn(deps, turn) };
  return inHalves(halving, part, step);
}

/** The tenant's prompt in place of the product's, or the product's. */
function promptOf({ prompts, categories }: TenantSettings): Prompt {
  if (prompts.extract === null) return EXTRACT;
  return customPrompt(EXTRACT, prompts.extract, { categories: (categories ?? DEFAULT_CATEGORIES).join(', ') });
}

interface Showing {
  readonly part: Part;
  readonly shown: ReadonlyMap<string, Spoken>;
  readonly recentMessages: number;
}

function inputOf(gathered: GatheredTurn, { part, shown, recentMessages }: Showing): JsonObject {
  const input: ExtractInput = {
    context: contextOf(gathered, { spoken: part.messages, before: part.before, count: recentMessages }),
    messages: [...shown].map(([id, spoken]) => messageShown(id, spoken)),
  };
  return input as unknown as JsonObject;
}

/** A message as a call is shown it. */
export const messageShown = (id: string, { message, text }: Spoken): ExtractInput['messages'][number] => ({
  id,
  role: message.role,
  content: text,
  timestamp: clockText(message),
  name: message.name === null ? null : cleanText(message.name).trim(),
});
