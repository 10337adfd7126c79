import {
  createChatTools,
  type FoundMemory,
  type MemoryTool,
  type MemoryToolOptions,
  scopeOf,
  type ToolInput,
  type Whose,
} from '@slowwave/sdk';
import { jsonSchema, type Tool, type ToolExecutionOptions } from 'ai';

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
