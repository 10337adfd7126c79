export { MIGRATIONS } from './ledger/migrate.ts';
export { openSqliteLedger, type SqliteLedger } from './ledger/open.ts';
export { lockFolder, requireSameQueue } from './lock-folder.ts';
export { openSqliteBuild, openSqliteIndex, type SqliteIndexOptions } from './search-index/open.ts';
