export type * from '../ports/cells.ts';
export { promisedBy } from '../ports/ledger/bundles.ts';
export {
  ALL_SLOTS,
  type Cell,
  type CellState,
  type DirectoryBook,
  type DirectoryChanges,
  directoryBook,
  firstRanges,
  isLost,
  isWithin,
  type PlacedOwner,
  rangeAt,
  SLOTS,
  type SlotRange,
  type SlotRun,
  type TenantPlace,
  widthsOf,
  withGiven,
} from './book.ts';
export {
  closedTo,
  type Handover,
  type PlannedHandover,
  planAdd,
  planDrain,
  planRebalance,
} from './handovers.ts';
export {
  afterLoss,
  CARRY_LEASE_MS,
  type CarryDeps,
  CLAIM_MOST_MS,
  carryHandover,
  carryMove,
  type MoveOutcome,
  OWNER_MOVE_STATES,
  type OwnerMove,
  type OwnerMoveState,
} from './move-owner.ts';
export { shareHere, shareOut, takeShare } from './share-out.ts';
export {
  type AskedShare,
  granted,
  type KeptShare,
  LEAST_SHARE,
  leaseUntil,
  partAssumed,
  renewedFrom,
} from './shares.ts';
