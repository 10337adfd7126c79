export { memoryMiddleware } from './middleware.ts';
export type { CallSettings, MiddlewareOptions } from './options.ts';
export { type MemoryTools, memoryTools, type ToolOptions } from './tools.ts';
