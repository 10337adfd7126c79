export { type CallSettings, type MiddlewareOptions, memoryMiddleware } from './middleware.ts';
export { type MemoryTools, memoryTools, type ToolOptions } from './tools.ts';
