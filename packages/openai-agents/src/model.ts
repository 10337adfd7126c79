import type { AgentOutputItem, Model, ModelRequest, StreamEvent } from '@openai/agents-core';
import { type ChatMemoryOptions, createChatMemory, ownerOf, scopeOf, type Whose } from '@slowwave/sdk';
import { isContinued, itemsOf, messagesOf, splitAtLastAnswer, upToLastSaid } from './items.ts';

export type RememberingOptions = ChatMemoryOptions & Whose;

/**
 * A model with the memory of a user: before a call, what is known is added to the instructions; after it, the exchange
 * is posted. Neither delays an answer for long, and neither ever breaks one.
 */
export function rememberingModel(model: Model, options: RememberingOptions): Model {
  const scope = scopeOf(options);
  ownerOf(scope); // a model of nobody is a mistake of the program, and is told at once
  const memory = createChatMemory(options);
  const informed = async (request: ModelRequest): Promise<ModelRequest> => {
    const items = itemsOf(request.input);
    const block = await memory.context(scope, {
      messages: messagesOf(items),
      upToLastSaid: messagesOf(upToLastSaid(items)),
      isContinued: isContinued(items),
      signal: request.signal,
    });
    const instructions = [request.systemInstructions ?? '', block].filter((text) => text !== '');
    return block === '' ? request : { ...request, systemInstructions: instructions.join('\n\n') };
  };
  const post = (request: ModelRequest, output: readonly AgentOutputItem[]): void => {
    // A model that said nothing will be asked again, with the same words of the user.
    if (output.length === 0) return;
    const { before, added } = splitAtLastAnswer(itemsOf(request.input));
    memory.post(scope, { before: messagesOf(before), added: messagesOf(added), answer: messagesOf(output) });
  };
  return {
    ...(model.supportsPromptModelSelection !== undefined && {
      supportsPromptModelSelection: model.supportsPromptModelSelection,
    }),
    ...(model.getRetryAdvice !== undefined && { getRetryAdvice: (args) => model.getRetryAdvice?.(args) }),
    getResponse: async (request) => {
      const response = await model.getResponse(await informed(request));
      post(request, response.output);
      return response;
    },
    getStreamedResponse: (request) => collected(informed(request), { model, done: (output) => post(request, output) }),
  };
}

interface Collecting {
  readonly model: Model;
  readonly done: (output: readonly AgentOutputItem[]) => void;
}

/** The same stream; when it ends, breaks or is left, `done` is told once what came until then. */
async function* collected(request: Promise<ModelRequest>, { model, done }: Collecting): AsyncGenerator<StreamEvent> {
  let text = '';
  let output: readonly AgentOutputItem[] | null = null;
  try {
    for await (const event of model.getStreamedResponse(await request)) {
      if (event.type === 'output_text_delta') text += event.delta;
      if (event.type === 'response_done') output = event.response.output;
      yield event;
    }
  } finally {
    done(output ?? (text === '' ? [] : [said(text)]));
  }
}

const said = (text: string): AgentOutputItem => ({
  role: 'assistant',
  status: 'incomplete',
  content: [{ type: 'output_text', text }],
});
