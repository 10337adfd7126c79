import type { EngineDeps } from '../../deps.ts';
import { maskSecrets } from '../../masking/secrets.ts';
import { type Spoken, spokenOf } from '../../messages/reading.ts';
import { clockText, lastSaid } from '../../messages/said-when.ts';
import { type Asking, ask, inHalves, isLastOfTurn } from '../../models/ask.ts';
import { promptUse } from '../../models/call-model.ts';
import { factsIn } from '../../models/parse/facts.ts';
import { DEFAULT_CATEGORIES, EXTRACT, type ExtractInput } from '../../models/prompts/extract.ts';
import { customPrompt, type Prompt } from '../../models/prompts/prompt.ts';
import type { Cancellation } from '../../ports/tools.ts';
import type { TenantSettings } from '../../settings.ts';
import { inSlices } from '../../slices.ts';
import { isoOf } from '../../text/dates.ts';
import { cleanText } from '../../text/normalise.ts';
import { estimateTokens, shorten } from '../../text/tokens.ts';
import type { BatchSettings, JsonObject, Message } from '../../words.ts';
import type { Extracted, GatheredTurn } from '../values.ts';
import { admitting, type Found } from './admit.ts';
import { cutIntoParts, halvingParts, type Part, partLimits } from './parts.ts';

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

/** Of one known message: what it was about. */
const KNOWN_MESSAGE_TOKENS_MAX = 400;
/** Of all known messages: extracts of a lane do not grow with its age, nor with what its callers send again. */
const KNOWN_TOKENS_MAX = 2_000;

type Context = ExtractInput['context'];

/** What a call is told beside the new messages. The first part reads what was said before the window, others the part before. */
export function contextOf(
  gathered: GatheredTurn,
  { spoken, before, count }: { spoken: readonly Spoken[]; before: readonly Spoken[]; count: number },
): Context {
  const { turn, rules } = gathered;
  const known = before.length > 0 ? before : lastOf(knownMessages(gathered), count).map((message) => spokenOf(message));
  return {
    summary: gathered.summary === null ? null : maskSecrets(gathered.summary).text,
    recent: shown(known),
    // The conversation's own "now": a retry, or a replay a year later, asks the same question again.
    now: spoken.length === 0 ? isoOf(turn.claimedAt) : clockText(lastSaid(spoken.map(({ message }) => message))),
    instructions: instructionsOf(rules, turn.settings),
    ...(rules.categories === null ? {} : { categories: rules.categories }),
  };
}

/** The messages before the window, then those of it that came before under the same client id: each once. */
function knownMessages({ recent, messages }: GatheredTurn): readonly Message[] {
  const resent = messages.filter((message) => message.resent);
  const again = new Set(resent.map(({ clientId }) => clientId));
  return [...recent.filter(({ clientId }) => clientId === null || !again.has(clientId)), ...resent];
}

const lastOf = <T>(items: readonly T[], count: number): readonly T[] => items.slice(Math.max(0, items.length - count));

/** As many of the last ones as there is room for, oldest first. */
function shown(known: readonly Spoken[]): Context['recent'] {
  let room = KNOWN_TOKENS_MAX;
  const last: { role: string; content: string }[] = [];
  for (const { message, text } of known.toReversed()) {
    const content = shorten(text, KNOWN_MESSAGE_TOKENS_MAX);
    room -= estimateTokens(content);
    if (room < 0) break;
    if (content !== '') last.unshift({ role: message.role, content });
  }
  return last;
}

/** What a batch asks for comes on top of what its tenant does. */
function instructionsOf(tenant: TenantSettings, batch: BatchSettings): string | null {
  const both = (key: 'instructions' | 'includes' | 'excludes', separator: string): string | null =>
    [tenant[key], batch[key]].filter((text) => text !== null).join(separator) || null;
  const [instructions, includes, excludes] = [
    both('instructions', '\n'),
    both('includes', '; '),
    both('excludes', '; '),
  ];
  const lines = [
    instructions,
    includes === null ? null : `Remember only: ${includes}`,
    excludes === null ? null : `Never remember: ${excludes}`,
  ].filter((line) => line !== null);
  return lines.length === 0 ? null : cleanText(lines.join('\n'));
}
