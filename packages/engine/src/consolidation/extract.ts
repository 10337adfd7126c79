import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import { maskOf } from '../masking/secrets.ts';
import { newest } from '../memories/evolve.ts';
import { imagesOf, type Spoken, spokenOf, textOfContent } from '../messages/messages.ts';
import { type Asking, ask, promptUse } from '../models/ask.ts';
import { textUnderKeys } from '../models/parse/answer.ts';
import { DESCRIBE_IMAGE, type DescribeInput, PROCEDURE, type ProcedureInput } from '../models/prompts/consolidation.ts';
import { forStep } from '../models/steps.ts';
import type { Discard, PromptUse } from '../plan.ts';
import { type Cancellation, inSlices } from '../ports/tools.ts';
import { Wording } from '../text/normalise.ts';
import { isWithheld, type Memory, type Message } from '../words.ts';
import type { Extracted, GatheredTurn } from './consolidate.ts';
import { type Admitted, admit } from './extract/admit.ts';
import { cutIntoParts, infer, messageShown } from './extract/infer.ts';
import { idleReason, secretReason } from './extract/rules.ts';

/** Makes facts of the new messages, the way their batch asks for. */
export async function extract(given: EngineDeps, gathered: GatheredTurn, cancel: Cancellation): Promise<Extracted> {
  const deps = forStep(given, 'extract', gathered.rules);
  const heard = await hear(deps, gathered, cancel);
  const found = await findFacts(deps, { gathered, spoken: heard.spoken }, cancel);
  const discards = [...heard.discards, ...found.discards];
  return {
    ...gathered,
    facts: found.facts,
    discards: [...discards, ...uncounted(heard.spoken, discards)],
    remarks: found.remarks,
    prompts: [...heard.prompts, ...found.prompts],
  };
}

type FoundFacts = Pick<Extracted, 'facts' | 'discards' | 'remarks' | 'prompts'>;

async function findFacts(
  deps: EngineDeps,
  what: { readonly gathered: GatheredTurn; readonly spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<FoundFacts> {
  const { settings, scope } = what.gathered.turn;
  if (settings.mode === 'procedural') return procedure(deps, what, cancel);
  if (settings.mode === 'verbatim') return { ...verbatim(what), prompts: [] };
  const idle = idleDiscards(what.spoken, { agent: scope.agentId !== null });
  return idle === null ? infer(deps, what, cancel) : { facts: [], discards: idle, remarks: [], prompts: [] };
}

/** A window of which nothing can come is not asked about; null: something may. */
function idleDiscards(spoken: readonly Spoken[], whose: { readonly agent: boolean }): Discard[] | null {
  const discards: Discard[] = [];
  for (const one of spoken) {
    const reason = idleReason(one, whose);
    if (reason === null) return null;
    discards.push({ text: one.text.slice(0, SHOWN_MAX), reason });
  }
  return discards;
}

/** Enough to recognise a message by. */
const SHOWN_MAX = 200;

/** Every secret that was said is counted once: here, unless a fact was put aside for it already. */
function uncounted(spoken: readonly Spoken[], counted: readonly Discard[]): Discard[] {
  const left = counted.map(({ reason }) => reason);
  return spoken
    .flatMap(({ secrets }) => secrets)
    .flatMap((kind) => {
      const at = left.indexOf(secretReason(kind));
      if (at === -1) return [{ text: maskOf(kind), reason: secretReason(kind) }];
      left.splice(at, 1);
      return [];
    });
}

/** Each message as a fact of its own, word for word but for its secrets. */
function verbatim({ gathered, spoken }: { gathered: GatheredTurn; spoken: readonly Spoken[] }): Admitted {
  const said = spoken.filter(({ message }) => message.role !== 'system');
  const shown = new Map(said.map((one, i) => [`m${i}`, one]));
  const raw = [...shown].map(([id, { message, text }]) => ({
    text,
    words: new Wording(text),
    composed: false,
    sourceIds: [id],
    quote: null,
    category: null,
    language: null,
    validFrom: null,
    about: message.role === 'assistant' ? 'agent' : 'user',
  }));
  return admit([{ raw, shown }], { ...AS_IT_IS, ownOnly: gathered.rules.externalContent === 'ignore' });
}

/** What an agent did it did with tools: its record is one of them, too. */
const AS_IT_IS = { inferred: false, agent: true, categories: [], ownOnly: false, before: [] };

/** The new messages as they will be read. */
interface Heard {
  readonly spoken: readonly Spoken[];
  readonly discards: readonly Discard[];
  readonly prompts: readonly PromptUse[];
}

/** Reads the new messages: one call for each that holds images. What is empty is put aside. */
export async function hear(deps: EngineDeps, gathered: GatheredTurn, cancel: Cancellation): Promise<Heard> {
  const all: Spoken[] = [];
  for (const message of gathered.messages.filter(({ resent }) => !resent)) {
    const pictured = imagesOf(message.content).length > 0;
    all.push(spokenOf(message, pictured ? await describe({ deps, turn: gathered.turn, cancel }, message) : null));
  }
  const described = all.some(({ message }) => imagesOf(message.content).length > 0);
  return {
    spoken: all.filter(({ text }) => text !== ''),
    discards: all.filter(({ text }) => text === '').map(({ message }) => ({ text: '', reason: whyEmpty(message) })),
    prompts: described ? [promptUse(deps, DESCRIBE_IMAGE)] : [],
  };
}

function whyEmpty({ content }: Message): string {
  if (!isWithheld(content)) return 'empty message';
  return content.kinds === undefined
    ? 'not kept'
    : `not stored, because it contains personal data: ${content.kinds.join(', ')}`;
}

/** What is to be seen in the images of a message, in words. */
async function describe({ deps, turn, cancel }: Asking, message: Message): Promise<string> {
  const images = imagesOf(message.content);
  const text = spokenOf({ ...message, content: textOfContent(message.content) }).text;
  const input: DescribeInput = { message: { role: message.role, content: text }, images: images.length };
  return ask(
    { deps: { ...deps, chat: imageModelOf(deps) }, turn, cancel },
    {
      step: `describe:${message.id}`,
      prompt: DESCRIBE_IMAGE,
      ask: 'Describe the images of this message.',
      input,
      images,
      shape: textUnderKeys('description', 'descriptions', 'text', 'content'),
    },
  );
}

/** Messages with images are refused at the door while there is no model for them; these came in before it went. */
function imageModelOf({ imageModel }: EngineDeps) {
  if (imageModel !== null) return imageModel;
  throw new EngineError('no image model is configured; set SLOWWAVE_IMAGE_MODEL, then replay the batch', {
    code: 'unsupported_content',
    retryable: false,
  });
}

/** One fact: the complete summary of what an agent did, from one call, or one for each part of a long execution. */
async function procedure(
  deps: EngineDeps,
  { gathered, spoken }: { gathered: GatheredTurn; spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<FoundFacts> {
  const steps = spoken.filter(({ message }) => message.role !== 'system');
  const shown = new Map(steps.map((step, i) => [`m${i}`, step]));
  const summaries: string[] = [];
  // No overlap: every output is recorded once.
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
        input,
        shape: textUnderKeys('summary', 'text', 'memory', 'content'),
      },
    );
    summaries.push(summary);
  }
  const text = summaries.join('\n\n');
  const raw = { ...WHOLE, text, words: new Wording(text), sourceIds: [...shown.keys()] };
  const admitted = admit([{ raw: steps.length === 0 ? [] : [raw], shown }], AS_IT_IS);
  return { ...admitted, prompts: steps.length === 0 ? [] : [promptUse(deps, PROCEDURE)] };
}

/** The category of a procedure: a complete record of what an agent did. */
export const PROCEDURAL = 'procedural';

const WHOLE = { composed: true, quote: null, category: PROCEDURAL, language: null, validFrom: null, about: 'agent' };

/** Records stand as they are: facts neither change them nor are decided against them. */
export const isProcedure = (memory: Memory): boolean => newest(memory).details.category === PROCEDURAL;
