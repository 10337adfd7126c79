import { append } from './append.ts';
import { apply, write } from './apply.ts';
import { openLaneId, proveWritable } from './lanes.ts';

/** Everything that writes, by the name it has on its way to the writer thread. Each runs inside a transaction. */
export const WRITES = {
  append,
  apply,
  openLaneId,
  proveWritable,
  write,
} as const;

export type WriteName = keyof typeof WRITES;
export type WriteInput<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[1];
export type WriteResult<Name extends WriteName> = ReturnType<(typeof WRITES)[Name]>;
