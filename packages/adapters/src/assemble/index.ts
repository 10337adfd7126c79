export { type OpenEngine, openEngine } from './engine.ts';
export {
  type Limits,
  loadInBackground,
  type OpenEmbedder,
  openChat,
  openEmbedder,
  openLimits,
  openReranker,
  unknownChat,
} from './models.ts';
export { type Audit, type Observer, observe, openAudit, openReceipts } from './observer.ts';
export { engineSettings, kindsOf, runsOn } from './settings.ts';
export {
  openAll,
  openIndex,
  openLedger,
  openOn,
  openQueue,
  openVectorCache,
  rebuildOwnIndex,
  requireSharedFolder,
} from './stores.ts';
