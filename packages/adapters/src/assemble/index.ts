export { ROOM_ADVICE } from '../conventions.ts';
export { placeOf, type ThoughtPlace } from '../openai/message.ts';
export { cellGuard } from './cell.ts';
export { besideChat, knownModels, openChats } from './chats.ts';
export { openCold, openWaking, segmentStoreOf } from './cold.ts';
export { type OpenEngine, openEngine } from './engine.ts';
export {
  chatOnTrial,
  comingModels,
  loadInBackground,
  type OpenEmbedder,
  openEmbedder,
  openLimits,
  openReranker,
} from './models.ts';
export { eachInOneSpace, inOneSpace, inOneSpaceForCaller } from './moving-space.ts';
export { type Observer, observe, openAudit, openReceipts } from './observer.ts';
export { engineSettings, kindsOf, type OpenCalibration, openCalibrations, runsOn } from './settings.ts';
export { openSpace } from './space.ts';
export {
  openAll,
  openKnownModels,
  openLedger,
  openOn,
  openQueue,
  openVectorCache,
  promoteTenant,
  rebuildOwnIndex,
  requireSharedFolder,
} from './stores.ts';
