export type * from '../ports/cells.ts';
export {
  CELL_STATES,
  type Cell,
  type CellState,
  type DirectoryBook,
  type DirectoryChanges,
  directoryBook,
  type Exception,
  firstRanges,
  isLost,
  type PlacedOwner,
  type TenantPlace,
} from './book.ts';
export { CARRY_LEASE_MS, type CarryDeps, CLAIM_MOST_MS, carryHandover, carryMove } from './carry.ts';
export {
  afterHandoverFailure,
  afterHandoverStep,
  closedTo,
  HANDOVER_STATES,
  type Handover,
  type HandoverState,
} from './handover.ts';
export {
  afterLoss,
  afterStep,
  type MoveOutcome,
  OWNER_MOVE_STATES,
  type OwnerCopy,
  type OwnerMove,
  type OwnerMoveState,
} from './move-owner.ts';
export { type PlannedHandover, planAdd, planDrain, planRebalance } from './plan.ts';
export { type ShareDeps, shareHere, shareOut, takeShare } from './share-out.ts';
export {
  type AskedShare,
  granted,
  type KeptShare,
  LEAST_SHARE,
  leaseUntil,
  partAssumed,
  renewedFrom,
} from './shares.ts';
export {
  ALL_SLOTS,
  isWithin,
  rangeAt,
  SLOTS,
  type SlotRange,
  type SlotRun,
  widthOf,
  widthsOf,
  withGiven,
} from './slots.ts';
export { promisedBy } from './stamp.ts';
