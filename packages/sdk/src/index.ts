export type * from './api.ts';
export { type ChatMemory, createChatMemory } from './chat/memory.ts';
export {
  type ChatMemoryOptions,
  type Exchange,
  ownerOf,
  type Prompted,
  type Scope,
  scopeOf,
  type Whose,
} from './chat/options.ts';
export {
  CHAT_TOOLS,
  type ChatTools,
  createChatTools,
  type FoundMemory,
  type MemoryTool,
  type MemoryToolOptions,
  type ToolInput,
} from './chat/tools.ts';
export { createSlowwave, type Slowwave } from './client.ts';
export { type Mistake, SlowwaveError } from './errors.ts';
export type { PostOptions, SettleOptions } from './groups/batches.ts';
export type { CallOptions, SlowwaveOptions } from './options.ts';
export type { Given, Send } from './send.ts';
