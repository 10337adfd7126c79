import { append } from './append.ts';
import { apply, write } from './apply.ts';
import { openLaneId, proveWritable } from './lanes.ts';
import { advanceReplay, createReplay, forgetInReplays, moveReplay, takeReplay } from './replays.ts';

/** Everything that writes, by the name it has on its way to the writer thread. Each runs inside a transaction. */
export const WRITES = {
  advanceReplay,
  append,
  apply,
  createReplay,
  forgetInReplays,
  moveReplay,
  openLaneId,
  proveWritable,
  takeReplay,
  write,
} as const;

export type WriteName = keyof typeof WRITES;
export type WriteInput<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[1];
export type WriteResult<Name extends WriteName> = ReturnType<(typeof WRITES)[Name]>;
