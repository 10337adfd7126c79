export { openQdrantIndex } from './open.ts';
export type { QdrantOptions } from './options.ts';
export {
  type RebuildOptions,
  type RebuildProgress,
  type Rebuilt,
  rebuildQdrant,
} from './rebuild.ts';
