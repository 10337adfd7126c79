export { openaiBulk } from './bulk.ts';
export { type ChatOptions, openaiChat } from './chat.ts';
export { type EmbedderOptions, openaiEmbedder } from './embedder.ts';
export { FULL_MANNERS, knownManners } from './manners.ts';
export { findingsIn, knownProfile, profiledChat, profiledEmbedder, profileName } from './profile.ts';
