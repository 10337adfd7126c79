export type * from './api.ts';
export { createSlowwave, type Slowwave } from './client.ts';
export { type Mistake, SlowwaveError } from './errors.ts';
export type { PostOptions, SettleOptions } from './groups/batches.ts';
export type { CallOptions, SlowwaveOptions } from './options.ts';
export type { Given, Send } from './send.ts';
