export { openaiChat } from './chat.ts';
export type { OpenaiOptions } from './client.ts';
export { type EmbedderOptions, openaiEmbedder } from './embedder.ts';
export { FULL_MANNERS, knownManners, type Manners } from './manners.ts';
export { profiledChat } from './profiled.ts';
