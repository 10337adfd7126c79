export { postgresDialect } from './postgres.ts';
export { addFilterFunctions, sqliteDialect } from './sqlite.ts';
export { type SqlFilter, translate } from './translate.ts';
