import {
  type AgentInputItem,
  type AgentOutputItem,
  type Model,
  type ModelRequest,
  type StreamEvent,
  type Tool,
  tool,
} from '@openai/agents-core';
import {
  CHAT_TOOLS,
  type ChatMemoryOptions,
  createChatMemory,
  createChatTools,
  type MemoryTool,
  type MemoryToolOptions,
  type Message,
  ownerOf,
  scopeOf,
  type ToolInput,
  type Whose,
} from '@slowwave/sdk';

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

type Item = AgentInputItem | AgentOutputItem;

/** What a model is asked, as items. */
const itemsOf = (input: ModelRequest['input']): readonly AgentInputItem[] =>
  typeof input === 'string' ? [{ role: 'user', content: input }] : input;

/** The items as messages, without those of the system and without what a model only thinks. */
const messagesOf = (items: readonly Item[]): Message[] => items.flatMap(messagesIn);

/**
 * What nobody has posted yet: all after the model's last answer. So each step of a loop of tools, and each turn of a
 * conversation, posts its own part alone, whichever process it runs in.
 */
function splitAtLastAnswer<T extends Item>(items: readonly T[]): { readonly before: T[]; readonly added: T[] } {
  const from = items.findLastIndex((item) => !isGiven(item)) + 1;
  return { before: items.slice(0, from), added: items.slice(from) };
}

/** Whether the model is only given what its tools found, after the same words of the user. */
const isContinued = (items: readonly Item[]): boolean => isResult(items.at(-1));

/** The items up to the user's last words. */
const upToLastSaid = <T extends Item>(items: readonly T[]): T[] =>
  items.slice(0, items.findLastIndex((item) => 'role' in item && item.role === 'user') + 1);

/** What does not come from the model. */
const isGiven = (item: Item): boolean => ('role' in item ? item.role !== 'assistant' : isResult(item));

const isResult = (item: Item | undefined): boolean => /_(?:result|output)$/.test(item?.type ?? '');

function messagesIn(item: Item): Message[] {
  if ('role' in item) {
    const content = typeof item.content === 'string' ? item.content : textOf(item.content);
    return item.role === 'system' || content === '' ? [] : [{ role: item.role, content }];
  }
  switch (item.type) {
    case 'function_call': {
      const call = { id: item.callId, type: 'function', function: { name: item.name, arguments: item.arguments } };
      return CHAT_TOOLS.has(item.name) ? [] : [{ role: 'assistant', content: '', tool_calls: [call] }];
    }
    case 'function_call_result':
      return CHAT_TOOLS.has(item.name) ? [] : printed(item.name, textOf([item.output].flat()));
    case 'hosted_tool_call':
      return printed(item.name, item.output ?? '');
    default:
      return [];
  }
}

const printed = (name: string, content: string): Message[] => (content === '' ? [] : [{ role: 'tool', name, content }]);

interface Part {
  readonly type: string;
  readonly text?: string;
  readonly refusal?: string;
  readonly transcript?: string | null | undefined;
}

/** Of images and files, that they were there: what is in them would need a model to look at it. */
function textOf(parts: readonly (string | Part)[]): string {
  const texts = parts.map((part) => {
    if (typeof part === 'string') return part;
    return part.text ?? part.refusal ?? part.transcript ?? `[${part.type.replace('input_', '')}]`;
  });
  return texts.filter((text) => text !== '').join('\n');
}

export type ToolOptions = MemoryToolOptions & Whose;

/**
 * Tools with which an agent looks into the memory of one owner, adds to it, and takes something out of it. Leave out
 * what it should not do. A remembering model posts neither their calls nor what they found.
 */
export function memoryTools(options: ToolOptions): Tool[] {
  const tools = createChatTools(scopeOf(options), options);
  return Object.entries(tools).map(([name, one]: [string, MemoryTool<unknown>]) => toolOf(name, one));
}

const toolOf = (name: string, { description, parameters, execute }: MemoryTool<unknown>): Tool =>
  tool({
    name,
    description,
    parameters,
    execute: (input, _context, details) => execute(input as ToolInput, details?.signal),
    errorFunction: (_context, error) => `The tool failed: ${error instanceof Error ? error.message : String(error)}`,
  });
