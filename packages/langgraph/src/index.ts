export { SlowwaveStore, type StoreOptions } from './store.ts';
