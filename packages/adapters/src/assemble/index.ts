export { nearOf, openChat, openEmbedder, openImageModel } from './models.ts';
export { engineSettings, runsOn } from './settings.ts';
export { openIndex, openLedger, openQueue } from './stores.ts';
