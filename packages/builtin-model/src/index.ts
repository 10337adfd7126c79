export { builtinChat } from './chat.ts';
export { builtinEmbedder } from './embedder.ts';
