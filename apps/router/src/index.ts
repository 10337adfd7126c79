export { CLASSES, OF_CELLS } from './classes.ts';
