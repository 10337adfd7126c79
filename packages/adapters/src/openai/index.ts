export { openaiBulk } from './bulk.ts';
export { type ChatOptions, openaiChat } from './chat.ts';
export type { OpenaiOptions } from './client.ts';
export { type EmbedderOptions, openaiEmbedder } from './embedder.ts';
export { findingsIn } from './findings.ts';
export { FULL_MANNERS, knownManners } from './manners.ts';
export { knownProfile, profileName } from './profile.ts';
export { profiledChat, profiledEmbedder } from './profiled.ts';
