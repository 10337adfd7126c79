import { type Tool, tool } from '@openai/agents-core';
import {
  createChatTools,
  type MemoryTool,
  type MemoryToolOptions,
  scopeOf,
  type ToolInput,
  type Whose,
} from '@slowwave/sdk';

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
