export {
  type AskCell,
  type CellAsker,
  cellAsker,
  httpShares,
  overviewOfCells,
  problemOf,
  sizeOfCell,
  UnansweredError,
} from './ask-cell.ts';
export { clockOf, openDirectory } from './directory.ts';
export { httpPeers, startMover } from './peers.ts';
