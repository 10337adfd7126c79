export { postgresDialect } from './postgres.ts';
export { addFilterFunctions, sqliteDialect } from './sqlite.ts';
export { type ColumnName, type Dialect, type SqlFilter, translate } from './translate.ts';
