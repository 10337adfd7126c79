import type { EngineDeps } from '../../deps.ts';
import { maskSecrets } from '../../masking/secrets.ts';
import { clockText, lastSaid, type Spoken, spokenOf } from '../../messages/messages.ts';
import { type Halved, inHalves, isLastOfTurn, promptUse, readingOf } from '../../models/ask.ts';
import { factsIn } from '../../models/parse/listed.ts';
import { DEFAULT_CATEGORIES, EXTRACT, type ExtractInput } from '../../models/prompts/consolidation.ts';
import { customPrompt, type Prompt } from '../../models/prompts/prompt.ts';
import type { Discard, Fact } from '../../plan.ts';
import type { ModelStore } from '../../ports/ledger/ledger.ts';
import { type Cancellation, inSlices, type Sliced } from '../../ports/tools.ts';
import type { TenantSettings } from '../../settings.ts';
import { isoOf } from '../../text/dates.ts';
import { cleanText, estimateTokens, shorten, surelyFits } from '../../text/normalise.ts';
import type { BatchSettings, JsonObject, Message, Millis } from '../../words.ts';
import type { Extracted, GatheredTurn } from '../consolidate.ts';
import { admitting, type Found } from './admit.ts';
import { asksForLanguage } from './grounding.ts';

/** Finds the facts in what was said: one call, or one for each part of a window that is too long for one. */
export async function infer(
  deps: EngineDeps,
  { gathered, spoken }: { gathered: GatheredTurn; spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<Pick<Extracted, 'facts' | 'discards' | 'remarks' | 'prompts'>> {
  const { turn, rules } = gathered;
  const categories = categoriesOf(gathered);
  const prompt = await promptOf(deps, rules, categories);
  const found: Found[] = [];
  const parts = await inSlices(deps.tools, cutIntoParts(spoken, partLimits(deps)));
  const readPart = async ({ before, messages, knownTokens }: Part, step: string): Promise<Found> => {
    const shown = new Map(messages.map((message, n) => [`m${n}`, message]));
    const input: ExtractInput = {
      context: contextOf(gathered, { spoken: messages, before, count: deps.settings.recentMessages, knownTokens }),
      messages: [...shown].map(([id, spoken]) => messageShown(id, spoken)),
    };
    const { value, json } = await readingOf(
      { deps, turn, cancel },
      { step, prompt, ask: 'Find the facts.', input, shape: factsIn, isBulk: true },
    );
    return { raw: value.items, unread: value.unread, json, shown };
  };
  const halving = {
    ask: readPart,
    halve: halvingParts(deps),
    isLast: () => isLastOfTurn(deps, turn),
    ...smaller(deps),
  };
  for (const [i, part] of parts.entries())
    found.push(...(await inHalves(halving, part, i === 0 ? 'extract' : `extract:${i + 1}`)));
  const ownOnly = rules.externalContent === 'ignore';
  const before = shownBefore(gathered, deps.settings.recentMessages);
  const instructions = instructionsOf(rules, turn.settings);
  const admission = {
    ...{ inferred: true, agent: turn.scope.agentId !== null, ownOnly, before },
    categories: categories ?? DEFAULT_CATEGORIES,
    // Not the tenant's prompt: of its examples nothing is remembered.
    ...{ summary: gathered.summary, summaryTrust: gathered.summaryTrust, instructions },
    isTranslated: asksForLanguage([instructions, rules.prompts.extract]),
  };
  const admitted = await inSlices(deps.tools, admitting(found, admission));
  // A preview is of no batch.
  if (turn.batchIds.length > 0) await noteCopies(deps, { prompt, ...admitted });
  return { ...admitted, prompts: [promptUse(deps, prompt)] };
}

type Categories = TenantSettings['categories'];

/** Those of the batch, else the tenant's; null: the built-in ones. */
const categoriesOf = ({ turn, rules }: GatheredTurn): Categories => turn.settings.categories ?? rules.categories;

/** The tenant's prompt in place of the product's, or the product's. */
async function promptOf(deps: EngineDeps, { prompts }: TenantSettings, categories: Categories): Promise<Prompt> {
  if (prompts.extract === null) return extractPrompt(deps);
  return customPrompt(EXTRACT, prompts.extract, { categories: (categories ?? DEFAULT_CATEGORIES).join(', ') });
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

interface Beside extends Pick<Part, 'before'> {
  readonly knownTokens?: number | undefined;
  readonly spoken: readonly Spoken[];
  readonly count: number;
}

/** What a call is given beside the new messages. The first part reads what was said before the window, others the part before. */
export function contextOf(
  gathered: GatheredTurn,
  { spoken, before, count, knownTokens = KNOWN_TOKENS_MAX }: Beside,
): Context {
  const { turn, rules } = gathered;
  const categories = categoriesOf(gathered);
  const known = fitting(before.length > 0 ? before : shownBefore(gathered, count), knownTokens);
  const summary =
    gathered.summary !== null && estimateTokens(gathered.summary) <= knownTokens ? gathered.summary : null;
  return {
    summary: summary === null ? null : maskSecrets(summary).text,
    recent: known.map(({ message, text }) => ({ role: message.role, content: text })),
    // The conversation's own "now": a retry, or a replay a year later, asks the same question again.
    now: spoken.length === 0 ? isoOf(turn.claimedAt) : clockText(lastSaid(spoken.map(({ message }) => message))),
    instructions: instructionsOf(rules, turn.settings),
    ...(categories === null ? {} : { categories }),
  };
}

/** What calls are shown of what was said before the window. */
export const shownBefore = (gathered: GatheredTurn, count: number): readonly Spoken[] =>
  fitting(lastOf(knownMessages(gathered), count).map((message) => spokenOf(message)));

/** The messages before the window, then those of it that came before under the same client id: each once. */
function knownMessages({ recent, messages }: GatheredTurn): readonly Message[] {
  const resent = messages.filter((message) => message.resent);
  const again = new Set(resent.map(({ clientId }) => clientId));
  return [...recent.filter(({ clientId }) => clientId === null || !again.has(clientId)), ...resent];
}

const lastOf = <T>(items: readonly T[], count: number): readonly T[] => items.slice(Math.max(0, items.length - count));

/** As many of the last ones as there is room for, oldest first. */
function fitting(known: readonly Spoken[], tokens = KNOWN_TOKENS_MAX): readonly Spoken[] {
  let room = Math.min(tokens, KNOWN_TOKENS_MAX);
  const last: Spoken[] = [];
  for (const spoken of known.toReversed()) {
    const text = shorten(spoken.text, KNOWN_MESSAGE_TOKENS_MAX);
    room -= estimateTokens(text);
    if (room < 0) break;
    if (text !== '') last.unshift({ ...spoken, text });
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

/** What a part repeats of the one before it, in tokens: the last exchange. */
const OVERLAP_TOKENS = 500;
/** A model that finds no end in so few tokens finds none in fewer. */
const HALVED_TOKENS_MIN: Readonly<Record<Halved, number>> = { broke_off: 500, too_long: 60 };

/** How long the parts are that a model is shown of a window, each in one call. */
export const partLimits = ({ settings, tokenizer }: EngineDeps, tokens = settings.partTokens): PartLimits => ({
  tokens,
  overlap: OVERLAP_TOKENS,
  count: tokenizer.count,
});

/** Cuts a part in two; null: it is too short. */
export const halvingParts =
  (deps: EngineDeps) =>
  async ({ before, messages, ...rest }: Part, why: Halved = 'broke_off'): Promise<readonly Part[] | null> => {
    const tokens = tokensOf(deps, messages);
    if (tokens < HALVED_TOKENS_MIN[why]) return null;
    const half = Math.ceil(tokens / 2);
    const known = why === 'too_long' ? { knownTokens: half } : rest;
    const halves = await inSlices(deps.tools, cutIntoParts(messages, partLimits(deps, half)));
    if (halves.length < 2)
      return why === 'too_long' && rest.knownTokens !== 0 ? [{ before: [], messages, knownTokens: 0 }] : null;
    return halves.map((part, i) => ({ ...part, ...known, ...(i === 0 && { before }) }));
  };

/** What a model had no room for is remembered for the parts that follow. */
const smaller = (deps: EngineDeps) => ({
  sizeOf: ({ messages }: Part): number => tokensOf(deps, messages),
  refused: { size: Number.POSITIVE_INFINITY },
});

const tokensOf = ({ tokenizer }: EngineDeps, messages: readonly Spoken[]): number =>
  messages.reduce((sum, { text }) => sum + tokenizer.count(text), 0);

/** What one call reads: new messages, and the end of the part before, to be understood and not read again. */
export interface Part {
  readonly before: readonly Spoken[];
  readonly messages: readonly Spoken[];
  /** What is shown beside them at most, for a model whose window is small; else as much as to any. */
  readonly knownTokens?: number;
}

interface PartLimits {
  /** New messages of one part, in tokens. */
  readonly tokens: number;
  /** What is repeated of the part before, in tokens; at most a tenth of a part, so that small parts still move on. */
  readonly overlap: number;
  readonly count: (text: string) => number;
}

/** What JSON puts around a message: id, role, time and name, in tokens. */
const AROUND_MESSAGE = 40;
const OVERLAP_SHARE_MAX = 0.1;

/**
 * A window in parts that fit one call each, cut between messages. A message that is longer than a part is cut into
 * slices at the ends of sentences, each beginning with the last sentences of the one before. Counting the tokens of a large
 * window takes a second: it rests after each message.
 */
export function* cutIntoParts(window: readonly Spoken[], given: PartLimits): Sliced<readonly Part[]> {
  const texts = window.map(({ text }) => text);
  if (window.length > 0 && surelyFits(texts, { ...given, around: AROUND_MESSAGE })) {
    return [{ before: [], messages: window }];
  }
  const limits = { ...given, overlap: Math.min(given.overlap, Math.floor(given.tokens * OVERLAP_SHARE_MAX)) };
  const parts: Spoken[][] = [];
  let room = 0;
  for (const message of window) {
    for (const { spoken, cost } of sliced(message, limits)) {
      if (cost > room || parts.length === 0) {
        parts.push([]);
        room = limits.tokens;
      }
      parts.at(-1)?.push(spoken);
      room -= cost;
    }
    yield;
  }
  return parts.map((messages, i) => ({ before: endOf(parts[i - 1] ?? [], messages[0], limits), messages }));
}

interface Costed {
  readonly spoken: Spoken;
  readonly cost: number;
}

function sliced(spoken: Spoken, { tokens, overlap, count }: PartLimits): Costed[] {
  const cost = count(spoken.text) + AROUND_MESSAGE;
  if (cost <= tokens) return [{ spoken, cost }];
  const pieces = piecesOf(spoken.text).map((text) => ({ text, cost: count(text) }));
  const slices: Costed[] = [];
  for (let from = 0, end = 0; end < pieces.length; ) {
    end = Math.max(end + 1, endWithin(pieces, from, tokens - AROUND_MESSAGE));
    const slice = pieces.slice(from, end);
    slices.push({ spoken: { ...spoken, text: textOf(slice) }, cost: costOf(slice) + AROUND_MESSAGE });
    from = startWithin(pieces, end, overlap);
  }
  return slices;
}

interface Piece {
  readonly text: string;
  readonly cost: number;
}

const textOf = (pieces: readonly Piece[]): string =>
  pieces
    .map(({ text }) => text)
    .join('')
    .trim();
const costOf = (pieces: readonly Piece[]): number => pieces.reduce((sum, { cost }) => sum + cost, 0);

/** The first piece there is no room for any more. */
function endWithin(pieces: readonly Piece[], from: number, tokens: number): number {
  let room = tokens;
  const over = pieces.findIndex((piece, i) => {
    if (i >= from) room -= piece.cost;
    return room < 0;
  });
  return over === -1 ? pieces.length : over;
}

/** The first of the last pieces before `end` that fit together. */
function startWithin(pieces: readonly Piece[], end: number, tokens: number): number {
  let room = tokens;
  let start = end;
  while (start > 0 && room >= (pieces[start - 1]?.cost ?? 0)) {
    start -= 1;
    room -= pieces[start]?.cost ?? 0;
  }
  return start;
}

/** The last messages of a part that fit, the first of them by its end; none of a message that goes on in the next part. */
function endOf(part: readonly Spoken[], next: Spoken | undefined, { overlap, count }: PartLimits): Spoken[] {
  const end: Spoken[] = [];
  let room = overlap;
  for (const spoken of part.filter(({ message }) => message !== next?.message).toReversed()) {
    const pieces = piecesOf(spoken.text).map((text) => ({ text, cost: count(text) }));
    const start = startWithin(pieces, pieces.length, room);
    const text = textOf(pieces.slice(start));
    if (text !== '') end.unshift({ ...spoken, text });
    room -= costOf(pieces.slice(start));
    if (start > 0) break;
  }
  return end;
}

/** Longest piece, in UTF-16 units: a page without a full stop is cut at a space, or anywhere. */
const PIECE_MAX = 1_000;

/** A text in sentences and lines, in order, nothing left out. Takes linear time. */
export function piecesOf(text: string): string[] {
  const sentences = text.match(/[^.!?。！？\n]*[.!?。！？\n]+[”"'’」』)\]]*\s*|[^.!?。！？\n]+$/gu) ?? [];
  return sentences.flatMap(cutLong);
}

function cutLong(sentence: string): string[] {
  const cuts: string[] = [];
  let from = 0;
  while (sentence.length - from > PIECE_MAX) {
    const end = borderBefore(sentence, from);
    cuts.push(sentence.slice(from, end));
    from = end;
  }
  return [...cuts, sentence.slice(from)];
}

/** Behind the last space that fits; where there is none, not through the middle of a character. */
function borderBefore(sentence: string, from: number): number {
  const space = sentence.lastIndexOf(' ', from + PIECE_MAX - 1);
  if (space > from) return space + 1;
  const end = from + PIECE_MAX;
  const half = /[\uDC00-\uDFFF]/u.test(sentence.charAt(end));
  return half ? end - 1 : end;
}

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
async function extractPrompt(deps: Deps): Promise<Prompt> {
  return isCopying(await believedCopying(deps), deps.tools.now()) ? EXTRACT_PLAIN : EXTRACT;
}

interface Answered {
  readonly prompt: Prompt;
  readonly facts: readonly Fact[];
  readonly discards: readonly Discard[];
}

/** Notes whether the facts of a batch were copies of the examples it was shown. One that finds something has not copied all. */
async function noteCopies(deps: Deps, answered: Answered): Promise<void> {
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
