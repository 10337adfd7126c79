export { openDirectory } from './open.ts';
