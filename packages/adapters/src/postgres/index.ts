export { SCHEMA as SCHEMA_NAME } from './ledger/migrate.ts';
export { MIGRATIONS } from './ledger/migrations.ts';
export { openPostgresLedger, type PostgresLedgerOptions } from './ledger/open.ts';
export { openPool, placeOf } from './pool.ts';
