export { measureDoctor } from './measure-doctor.ts';
export { measureLedger } from './measure-ledger.ts';
export { measureQueue } from './measure-queue.ts';
export { measureStudies } from './measure-studies.ts';
export { measureWebhooks } from './measure-webhooks.ts';
export { startWork, type Work } from './work.ts';
