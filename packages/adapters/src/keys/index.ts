export { type KeyCheckOptions, keyCheck } from './check.ts';
export { newSecret } from './secret.ts';
