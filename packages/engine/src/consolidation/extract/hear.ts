import type { EngineDeps } from '../../deps.ts';
import { EngineError } from '../../errors.ts';
import { imagesOf, type Spoken, spokenOf, textOfContent } from '../../messages/reading.ts';
import { ask } from '../../models/ask.ts';
import { promptUse } from '../../models/call-model.ts';
import { textUnderKeys } from '../../models/parse/answer.ts';
import { DESCRIBE_IMAGE, type DescribeInput } from '../../models/prompts/describe-image.ts';
import type { Discard, PromptUse } from '../../plan.ts';
import type { Cancellation } from '../../ports/tools.ts';
import { isWithheld, type JsonObject, type Message } from '../../words.ts';
import type { GatheredTurn } from '../values.ts';

/** The new messages as they will be read. */
export interface Heard {
  readonly spoken: readonly Spoken[];
  readonly discards: readonly Discard[];
  readonly prompts: readonly PromptUse[];
}

/** Reads the new messages: one call for each that holds images. What is empty is put aside. */
export async function hear(deps: EngineDeps, gathered: GatheredTurn, cancel: Cancellation): Promise<Heard> {
  const all: Spoken[] = [];
  for (const message of gathered.messages.filter(({ resent }) => !resent)) {
    const pictured = imagesOf(message.content).length > 0;
    all.push(spokenOf(message, pictured ? await describe(deps, { gathered, message }, cancel) : null));
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
  return content.kinds === undefined ? 'not kept' : `not stored, it held personal data: ${content.kinds.join(', ')}`;
}

interface Pictured {
  readonly gathered: GatheredTurn;
  readonly message: Message;
}

/** What is to be seen in the images of a message, in words. */
async function describe(deps: EngineDeps, { gathered, message }: Pictured, cancel: Cancellation): Promise<string> {
  const images = imagesOf(message.content);
  const text = spokenOf({ ...message, content: textOfContent(message.content) }).text;
  const input: DescribeInput = { message: { role: message.role, content: text }, images: images.length };
  return ask(
    { deps: { ...deps, chat: imageModelOf(deps) }, turn: gathered.turn, cancel },
    {
      step: `describe:${message.id}`,
      prompt: DESCRIBE_IMAGE,
      ask: 'Describe the images of this message.',
      input: input as unknown as JsonObject,
      images,
      shape: textUnderKeys('description', 'descriptions', 'text', 'content'),
    },
  );
}

/** Messages with images are refused at the door while there is no model for them; these came in before it went. */
function imageModelOf({ imageModel }: EngineDeps) {
  if (imageModel !== null) return imageModel;
  throw new EngineError(
    'expected a model that describes images, got none; set SLOWWAVE_IMAGE_MODEL to one, then replay the batch',
    { code: 'unsupported_content', retryable: false },
  );
}
