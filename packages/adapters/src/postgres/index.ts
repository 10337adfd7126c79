export { MIGRATIONS, SCHEMA as SCHEMA_NAME } from './ledger/migrate.ts';
export { openPostgresLedger } from './ledger/open.ts';
export { inTransaction, openPool, placeOf } from './pool.ts';
export { openPostgresBuild, openPostgresIndex, type PostgresIndexOptions } from './search-index/open.ts';
