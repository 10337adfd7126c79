export { nearOf, openChat, openEmbedder } from './models.ts';
export { engineSettings, runsOn } from './settings.ts';
export { openIndex, openLedger, openQueue } from './stores.ts';
