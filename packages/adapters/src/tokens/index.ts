export { o200kTokenizer } from './o200k.ts';
