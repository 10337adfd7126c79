export { type HeldFile, holdFile } from './hold-file.ts';
export { openSqliteLedger, type SqliteLedger, type SqliteLedgerOptions } from './ledger/open.ts';
export { openSqliteIndex, type SqliteIndexOptions } from './search-index/open.ts';
export { openSqliteBuild } from './search-index/open-build.ts';
