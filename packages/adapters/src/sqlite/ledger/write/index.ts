import { append } from './append.ts';
import { apply, write } from './apply.ts';
import { claim } from './claim.ts';
import { fail, release } from './fail.ts';
import { flush, replay } from './flush.ts';
import {
  applyStudy,
  claimStudy,
  failStudy,
  refillGraph,
  releaseStudy,
  requestStudy,
  storeStudyAnswer,
  tellGraph,
  writeGraph,
} from './graph.ts';
import { clockSetBack, noteClock, openLaneId, proveWritable, raiseLane } from './lanes.ts';
import { clearOutbox, refillOutbox, refillSpeech, retellLane, setLanesAside, takeLanesUp } from './outbox.ts';
import { advanceReplay, createReplay, forgetInReplays, moveReplay, takeReplay } from './replays.ts';
import { removeHistories, removeMessages, removePlans } from './retention.ts';

/** Everything that writes, by the name it has on its way to the writer thread. Each runs inside a transaction. */
export const WRITES = {
  advanceReplay,
  append,
  apply,
  applyStudy,
  claim,
  claimStudy,
  clearOutbox,
  createReplay,
  fail,
  failStudy,
  flush,
  forgetInReplays,
  moveReplay,
  noteClock,
  openLaneId,
  proveWritable,
  raiseLane,
  clockSetBack,
  refillGraph,
  refillOutbox,
  refillSpeech,
  release,
  releaseStudy,
  removeHistories,
  removeMessages,
  removePlans,
  replay,
  requestStudy,
  retellLane,
  setLanesAside,
  storeStudyAnswer,
  takeLanesUp,
  takeReplay,
  tellGraph,
  write,
  writeGraph,
} as const;

export type WriteName = keyof typeof WRITES;
export type WriteInput<Name extends WriteName> = Parameters<(typeof WRITES)[Name]>[1];
export type WriteResult<Name extends WriteName> = ReturnType<(typeof WRITES)[Name]>;
