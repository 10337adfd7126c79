export { openaiChat } from './chat.ts';
export type { OpenaiOptions } from './client.ts';
export { openaiEmbedder } from './embedder.ts';
