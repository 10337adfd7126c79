export { type Audit, openAudit } from './audit.ts';
export { type OpenEngine, openEngine } from './engine.ts';
export { type Limits, openLimits } from './limits.ts';
export { openChat, openEmbedder, openReranker } from './models.ts';
export { type Observer, observe } from './observer.ts';
export { openAll, openOn } from './open-all.ts';
export { rebuildOwnIndex } from './rebuild-index.ts';
export { engineSettings, kindsOf, runsOn } from './settings.ts';
export { openIndex, openLedger, openQueue, openVectorCache, requireSharedFolder } from './stores.ts';
