import { SCHEMA_100 } from './schema.ts';

/** In order: the first makes schema 100 in an empty ledger, the next makes 101. Never edit one that was released; append. */
export const MIGRATIONS: readonly string[] = [SCHEMA_100];
