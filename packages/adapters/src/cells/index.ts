export { type AskCell, type CellAsker, cellAsker, problemOf, UnansweredError } from './ask-cell.ts';
export { httpShares } from './ask-shares.ts';
export { type Mover, startMover } from './mover.ts';
export { clockOf, openDirectory } from './open.ts';
export { overviewOfCells, sizeOfCell } from './overview.ts';
export { httpPeers } from './peers.ts';
