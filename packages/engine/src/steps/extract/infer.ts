import type { EngineDeps } from '../../deps.ts';
import { factsIn } from '../../parse/facts.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { customPrompt } from '../../prompts/custom.ts';
import { DEFAULT_CATEGORIES, EXTRACT, type ExtractInput } from '../../prompts/extract.ts';
import type { Prompt } from '../../prompts/prompt.ts';
import { admitting, type Found } from '../../rules/admit.ts';
import type { Spoken } from '../../rules/messages.ts';
import { cutIntoParts, type Part, type PartLimits } from '../../rules/parts.ts';
import { clockText } from '../../rules/said-when.ts';
import type { TenantSettings } from '../../settings.ts';
import { atOnce, inSlices } from '../../slices.ts';
import { cleanText } from '../../text/normalise.ts';
import type { JsonObject } from '../../words.ts';
import { type Asking, ask, BrokenOffError } from '../ask.ts';
import { isLastTry } from '../doubt.ts';
import { promptUse } from '../prompt-use.ts';
import type { Extracted, GatheredTurn } from '../values.ts';
import { contextOf } from './context.ts';

/** What a part repeats of the one before it, in tokens: the last exchange. */
const OVERLAP_TOKENS = 500;

/** Finds the facts in what was said: one call, or one for each part of a window that is too long for one. */
export async function infer(
  deps: EngineDeps,
  { gathered, spoken }: { gathered: GatheredTurn; spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<Pick<Extracted, 'facts' | 'discards' | 'prompts'>> {
  const { turn, rules } = gathered;
  const prompt = promptOf(rules);
  const found: Found[] = [];
  const parts = await inSlices(deps.tools, cutIntoParts(spoken, limitsOf(deps, deps.settings.partTokens)));
  for (const [i, part] of parts.entries()) {
    const step = i === 0 ? 'extract' : `extract:${i + 1}`;
    found.push(...(await readPart({ deps, turn, cancel, gathered, prompt }, part, step)));
  }
  const categories = rules.categories ?? DEFAULT_CATEGORIES;
  const admission = { inferred: true, agent: turn.scope.agentId !== null, categories };
  const admitted = await inSlices(deps.tools, admitting(found, admission));
  return { ...admitted, prompts: [promptUse(deps, prompt)] };
}

const limitsOf = ({ tokenizer }: EngineDeps, tokens: number): PartLimits => ({
  tokens,
  overlap: OVERLAP_TOKENS,
  count: tokenizer.count,
});

interface Inferring extends Asking {
  readonly gathered: GatheredTurn;
  readonly prompt: Prompt;
}

/** A model that finds no end in so few tokens finds none in fewer. */
const HALVED_TOKENS_MIN = 500;

/**
 * What one part tells. Where a batch is alone, and would be parked because the answer breaks off, its parts are read in
 * halves first: their answers are shorter.
 */
async function readPart(inferring: Inferring, part: Part, step: string): Promise<readonly Found[]> {
  const { deps, turn, gathered, prompt } = inferring;
  const shown = new Map(part.messages.map((message, n) => [`m${n}`, message]));
  const input = inputOf(gathered, { part, shown, recentMessages: deps.settings.recentMessages });
  try {
    const { items, unread } = await ask(inferring, { step, prompt, ask: 'Find the facts.', input, shape: factsIn });
    return [{ raw: items, unread, shown }];
  } catch (error) {
    if (!(error instanceof BrokenOffError) || turn.batchIds.length > 1 || !(await isLastTry(deps, turn))) throw error;
    const halves = halvesOf(deps, part);
    if (halves === null) throw error;
    const found: Found[] = [];
    for (const [i, half] of halves.entries()) found.push(...(await readPart(inferring, half, `${step}/${i + 1}`)));
    return found;
  }
}

function halvesOf(deps: EngineDeps, { before, messages }: Part): readonly Part[] | null {
  const tokens = messages.reduce((sum, { text }) => sum + deps.tokenizer.count(text), 0);
  if (tokens < HALVED_TOKENS_MIN) return null;
  const halves = atOnce(cutIntoParts(messages, limitsOf(deps, Math.ceil(tokens / 2))));
  return halves.length < 2 ? null : halves.map((half, i) => (i === 0 ? { ...half, before } : half));
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
