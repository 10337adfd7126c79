import type { EngineDeps } from '../deps.ts';
import type { Discard, Fact } from '../plan.ts';
import type { ModelStore } from '../ports/ledger/ledger.ts';
import type { JsonObject, Millis } from '../words.ts';
import { EXTRACT } from './prompts/consolidation.ts';
import type { Prompt } from './prompts/prompt.ts';

/** What is remembered of a model that copied the examples of its prompt into its answers. */
export interface Copying {
  /** When it was seen last. */
  readonly at: Millis;
  /** In how many batches in a row nothing but copies came of facts. */
  readonly batches: number;
}

/** So often in a row is no chance. */
const BATCHES_MIN = 3;
/** After this long it is shown the examples again: another model may answer under its name. */
const HOLDS_MS = 7 * 24 * 3_600_000;

/** Whether a model is asked for facts without examples. */
export const isCopying = (known: Copying | null, now: Millis): known is Copying =>
  known !== null && known.batches >= BATCHES_MIN && holds(known, now);

/** What is known of a model that is asked for facts without examples. */
export const seenCopying = (at: Millis): Copying => ({ at, batches: BATCHES_MIN });

const holds = ({ at }: Copying, now: Millis): boolean => now - at <= HOLDS_MS;

/** The ledger's name for what is known of a model's copying. */
export const copyingName = (model: string): string => `copying ${model}`;

export const knownCopying = async (models: Pick<ModelStore, 'get'>, model: string): Promise<Copying | null> =>
  (await models.get(copyingName(model))) as Copying | null;

/** So long a process goes by what it has read of its models: every batch asks, and hardly any learns something new. */
const BELIEVED_MS = 10_000;

interface Believed {
  readonly known: Copying | null;
  readonly readAt: Millis;
}

const BELIEVED = new WeakMap<ModelStore, Map<string, Believed>>();

async function believedCopying({ chat, ledger: { models }, tools }: Deps): Promise<Copying | null> {
  const now = tools.now();
  const believed = BELIEVED.get(models)?.get(chat.name);
  if (believed !== undefined && now >= believed.readAt && now - believed.readAt < BELIEVED_MS) return believed.known;
  const known = await knownCopying(models, chat.name);
  believe(models, chat.name, { known, readAt: now });
  return known;
}

function believe(models: ModelStore, model: string, believed: Believed): void {
  const all = BELIEVED.get(models) ?? new Map<string, Believed>();
  BELIEVED.set(models, all.set(model, believed));
}

const EXAMPLE = /^\{.*\} gives \{.*\}$/u;
const INTRODUCTION = /^Examples?\b/u;

/** The prompt for facts without its examples: small models copy them, and find more where they are shown none. */
export const EXTRACT_PLAIN: Prompt = {
  ...EXTRACT,
  version: `${EXTRACT.version} without examples`,
  system: EXTRACT.system
    .split('\n')
    .filter((line) => !EXAMPLE.test(line) && !INTRODUCTION.test(line))
    .join('\n'),
};

type Deps = Pick<EngineDeps, 'chat' | 'ledger' | 'tools' | 'log'>;

/** The product's prompt for facts, as this model needs it. */
export async function extractPrompt(deps: Deps): Promise<Prompt> {
  return isCopying(await believedCopying(deps), deps.tools.now()) ? EXTRACT_PLAIN : EXTRACT;
}

interface Answered {
  readonly prompt: Prompt;
  readonly facts: readonly Fact[];
  readonly discards: readonly Discard[];
}

/** Notes whether the facts of a batch were copies of the examples it was shown. One that finds something has not copied all. */
export async function noteCopies(deps: Deps, answered: Answered): Promise<void> {
  const { prompt, facts, discards } = answered;
  const hasCopies = prompt === EXTRACT && discards.some(isCopy);
  if (prompt !== EXTRACT || (!hasCopies && facts.length === 0)) return;
  if (facts.length > 0) {
    if ((await believedCopying(deps)) !== null) await keep(deps, null);
    return;
  }
  const { chat, ledger, tools, log } = deps;
  const before = await knownCopying(ledger.models, chat.name); // others may have counted since
  const at = tools.now();
  const batches = 1 + (before !== null && holds(before, at) ? before.batches : 0);
  await keep(deps, { at, batches });
  if (batches === BATCHES_MIN)
    log.warn(
      { model: chat.name, batches },
      'the chat model copies the examples in its prompt; from now on, facts are extracted without examples. A larger model finds more',
    );
}

async function keep({ chat, ledger: { models }, tools }: Deps, known: Copying | null): Promise<void> {
  await models.put(copyingName(chat.name), known as JsonObject | null);
  believe(models, chat.name, { known, readAt: tools.now() });
}

const isCopy = ({ text }: Discard): boolean => COPIED.some((example) => text.includes(example));

/** The facts that the examples give. */
const COPIED: readonly string[] = EXTRACT.system
  .split('\n')
  .filter((line) => EXAMPLE.test(line))
  .flatMap((line) =>
    [...(line.split(' gives ')[1] ?? '').matchAll(/"text":"([^"]+)"/gu)].map(([, text]) => text ?? ''),
  );
