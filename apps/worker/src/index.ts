export { measureLedger } from './measure-ledger.ts';
export { startWork, type Work } from './work.ts';
