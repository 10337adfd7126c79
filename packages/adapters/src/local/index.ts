export type { OnProgress } from './download.ts';
export { KNOWN_MODELS } from './known.ts';
export { type LocalEmbedder, type LocalSource, openLocalEmbedder } from './open.ts';
export type { LocalThreadInit, LocalThreadMethods, LocalVectors, Pooling } from './protocol.ts';
