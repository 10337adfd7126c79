export { openPostgresLedger, type PostgresLedgerOptions } from './ledger/open.ts';
export { openPool, placeOf } from './pool.ts';
