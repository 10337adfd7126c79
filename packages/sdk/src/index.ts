export type * from './api.ts';
export {
  type ChatMemory,
  type ChatMemoryOptions,
  createChatMemory,
  type Exchange,
  ownerOf,
  type Prompted,
  type Scope,
  scopeOf,
  type Whose,
} from './chat-memory.ts';
export {
  CHAT_TOOLS,
  type ChatTools,
  createChatTools,
  type FoundMemory,
  type MemoryTool,
  type MemoryToolOptions,
  type ToolInput,
} from './chat-tools.ts';
export { createSlowwave, type Slowwave } from './client.ts';
export { type Mistake, SlowwaveError } from './errors.ts';
export type { PostOptions, SettleOptions } from './groups/batches.ts';
export type { CallOptions, Given, Send, SlowwaveOptions } from './send.ts';
