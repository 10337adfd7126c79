export { openQdrantBuild, type QdrantBuildOptions } from './build.ts';
export { openQdrantIndex } from './open.ts';
export type { QdrantOptions } from './server.ts';
