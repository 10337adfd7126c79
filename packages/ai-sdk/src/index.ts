import {
  type ChatMemoryOptions,
  createChatMemory,
  createChatTools,
  type FoundMemory,
  type MemoryTool,
  type MemoryToolOptions,
  ownerOf,
  type Scope,
  scopeOf,
  type ToolInput,
  type Whose,
} from '@slowwave/sdk';
import { jsonSchema, type LanguageModelMiddleware, type Tool, type ToolExecutionOptions } from 'ai';
import {
  answerOf,
  type Content,
  isContinued,
  messagesOf,
  type Prompt,
  splitAtLastAnswer,
  upToLastSaid,
} from './messages.ts';

export type MiddlewareOptions = ChatMemoryOptions & Whose;

/** What one call of a model is to be remembered under, and whether. */
export interface CallSettings extends Whose {
  readonly context?: false | undefined;
  readonly post?: false | undefined;
}

/**
 * Gives a language model the memory of a user: before a call, what is known is added to the prompt; after it, the
 * exchange is posted. Neither delays an answer for long, and neither ever breaks one.
 */
export function memoryMiddleware(options: MiddlewareOptions): LanguageModelMiddleware {
  const memory = createChatMemory(options);
  const postAnswer = ({ posts, scope, prompt }: Call, content: Content): void => {
    // A model that said nothing will be asked again, with the same words of the user.
    if (!posts || content.length === 0) return;
    const { before, added } = splitAtLastAnswer(prompt);
    memory.post(scope, { before: messagesOf(before), added: messagesOf(added), answer: answerOf(content) });
  };
  return {
    specificationVersion: 'v4',
    transformParams: async ({ params }) => {
      const { adds, scope, prompt } = callOf(options, params);
      if (!adds) return params;
      const block = await memory.context(scope, {
        messages: messagesOf(prompt),
        upToLastSaid: messagesOf(upToLastSaid(prompt)),
        isContinued: isContinued(prompt),
        signal: params.abortSignal,
      });
      return block === '' ? params : { ...params, prompt: withBlock(prompt, block) };
    },
    wrapGenerate: async ({ doGenerate, params }) => {
      const result = await doGenerate();
      postAnswer(callOf(options, params), result.content);
      return result;
    },
    wrapStream: async ({ doStream, params }) => {
      const { stream, ...result } = await doStream();
      return { ...result, stream: collected(stream, (content) => postAnswer(callOf(options, params), content)) };
    },
  };
}

interface Call {
  readonly scope: Scope;
  readonly adds: boolean;
  readonly posts: boolean;
  readonly prompt: Prompt;
}

type Params = Parameters<NonNullable<LanguageModelMiddleware['transformParams']>>[0]['params'];

function callOf(options: MiddlewareOptions, { prompt, providerOptions }: Params): Call {
  const ofCall = callSettingsIn(providerOptions?.slowwave ?? {});
  const scope = scopeOf({
    userId: ofCall.userId ?? options.userId,
    agentId: ofCall.agentId ?? options.agentId,
    runId: ofCall.runId ?? options.runId,
    appId: ofCall.appId ?? options.appId,
  });
  ownerOf(scope); // a call of nobody is a mistake of the program, and is told at once
  return {
    scope,
    adds: ofCall.context !== false,
    posts: ofCall.post !== false,
    prompt,
  };
}

/** After the program's own instructions, whose words stay where prompt caches look for them. */
function withBlock(prompt: Prompt, block: string): Prompt {
  const instructions = prompt.findIndex(({ role }) => role !== 'system');
  const at = instructions === -1 ? prompt.length : instructions;
  return prompt.toSpliced(at, 0, { role: 'system', content: block });
}

const IDS: readonly string[] = ['userId', 'agentId', 'runId', 'appId'] satisfies (keyof Whose)[];
const OFF: readonly string[] = ['context', 'post'];

/** `providerOptions.slowwave` of a call. Throws a TypeError for what it cannot mean. */
function callSettingsIn(given: Readonly<Record<string, unknown>>): CallSettings {
  for (const [name, value] of Object.entries(given)) {
    const isId = IDS.includes(name) && (value === undefined || typeof value === 'string');
    const isOff = OFF.includes(name) && (value === undefined || value === false);
    if (!(isId || isOff)) {
      const expected = 'userId, agentId, runId or appId as a text, or context or post as false';
      throw new TypeError(`providerOptions.slowwave: expected ${expected}, got ${name}: ${JSON.stringify(value)}`);
    }
  }
  return given;
}

type DoStream = Parameters<NonNullable<LanguageModelMiddleware['wrapStream']>>[0]['doStream'];
type Parts = Awaited<ReturnType<DoStream>>['stream'];
type StreamPart = Parts extends ReadableStream<infer P> ? P : never;

/** The same stream; when it ends, breaks or is left, `done` is told once what came until then. */
function collected(stream: Parts, done: (content: Content) => void): Parts {
  const reader = stream.getReader();
  const texts = new Map<string, { type: 'text'; text: string }>();
  const content: Content = [];
  let told = false;
  const end = (): void => {
    if (!told) done(content);
    told = true;
  };
  /** The text of a block, which grows. */
  const textOf = (id: string): { text: string } => {
    const text = texts.get(id) ?? { type: 'text', text: '' };
    if (!texts.has(id)) content.push(text);
    texts.set(id, text);
    return text;
  };
  const collect = (part: StreamPart): void => {
    if (part.type === 'text-delta') textOf(part.id).text += part.delta;
    if (part.type === 'tool-call' || part.type === 'tool-result') content.push(part);
  };
  return new ReadableStream<StreamPart>({
    pull: async (controller) => {
      try {
        const { done: isOver, value } = await reader.read();
        if (!isOver) {
          collect(value);
          controller.enqueue(value);
          return;
        }
        controller.close();
      } catch (error) {
        controller.error(error);
      }
      end();
    },
    cancel: async (reason) => {
      end();
      await reader.cancel(reason);
    },
  });
}

export type ToolOptions = MemoryToolOptions & Whose;

/** An alias and no interface, so that it is a set of tools. */
export type MemoryTools = {
  readonly searchMemories: Tool<ToolInput, FoundMemory[]>;
  readonly rememberThis: Tool<ToolInput, { id: string; memory: string }>;
  readonly forgetMemory: Tool<ToolInput, { forgotten: string }>;
};

/**
 * Tools with which a model looks into the memory of one owner, adds to it, and takes something out of it.
 * Keep their names: the middleware posts neither their calls nor what they found.
 */
export function memoryTools(options: ToolOptions): MemoryTools {
  const { searchMemories, rememberThis, forgetMemory } = createChatTools(scopeOf(options), options);
  return {
    searchMemories: toolOf(searchMemories),
    rememberThis: toolOf(rememberThis),
    forgetMemory: toolOf(forgetMemory),
  };
}

const toolOf = <R>({ description, parameters, execute }: MemoryTool<R>) => ({
  description,
  inputSchema: jsonSchema<ToolInput>(parameters),
  execute: (input: ToolInput, { abortSignal }: Pick<ToolExecutionOptions<never>, 'abortSignal'>) =>
    execute(input, abortSignal),
});
