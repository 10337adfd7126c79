export { openWork } from './compose.ts';
