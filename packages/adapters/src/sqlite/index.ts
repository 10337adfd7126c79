export { openSqliteLedger, type SqliteLedger, type SqliteLedgerOptions } from './ledger/open.ts';
export { openSqliteIndex, type SqliteIndexOptions } from './search-index/open.ts';
