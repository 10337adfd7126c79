export { measureDoctor, measureLedger, measureQueue, measureStudies, measureWebhooks } from './metrics.ts';
export { startWork, type Work } from './work.ts';
