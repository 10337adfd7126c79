export { openQdrantBuild, type QdrantBuildOptions } from './build.ts';
export { openQdrantIndex, promoteOnQdrant } from './open.ts';
export type { QdrantOptions } from './server.ts';
