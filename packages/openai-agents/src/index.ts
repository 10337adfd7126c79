export { type RememberingOptions, rememberingModel } from './model.ts';
export { memoryTools, type ToolOptions } from './tools.ts';
