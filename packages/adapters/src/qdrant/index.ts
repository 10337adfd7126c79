export { openQdrantIndex } from './open.ts';
export type { QdrantOptions } from './options.ts';
export {
  type PageRequest,
  type RebuildOptions,
  type RebuildPage,
  type RebuildProgress,
  type Rebuilt,
  rebuildQdrant,
} from './rebuild.ts';
