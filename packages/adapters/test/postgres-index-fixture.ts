import { randomBytes } from 'node:crypto';
import type { SearchIndex } from '@slowwave/engine';
import { recordingLog, SUITE_SPACE } from '@slowwave/engine-testing';
import { startPostgres } from '@slowwave/testkit';
import { Client } from 'pg';
import { openPostgresBuild, openPostgresIndex, type PostgresIndexOptions } from '../src/postgres/index.ts';

/** A server on which every test has indexes of its own. */
export interface IndexServer {
  readonly url: string;
  /** The name of a schema that no other test uses. */
  newSchema(): string;
  open(schema: string, changed?: Partial<PostgresIndexOptions>): Promise<SearchIndex>;
  openBuild(schema: string, changed?: Partial<PostgresIndexOptions>): ReturnType<typeof openPostgresBuild>;
  /** Runs statements beside the indexes. */
  sql(text: string): Promise<readonly Record<string, unknown>[]>;
  /** Closes what is open of a schema, and drops it. */
  remove(schema: string): Promise<void>;
  stop(): Promise<void>;
}

export async function indexServer(): Promise<IndexServer> {
  const { url, stop } = await startPostgres();
  const beside = new Client({ connectionString: url });
  await beside.connect();
  const opened = new Map<string, { close(): Promise<void> }[]>();
  const keep = <Open extends { close(): Promise<void> }>(schema: string, open: Open): Open => {
    opened.set(schema, [...(opened.get(schema) ?? []), open]);
    return open;
  };
  const options = { url, log: recordingLog(), ...SUITE_SPACE };
  const close = async (schema: string): Promise<void> => {
    for (const open of opened.get(schema) ?? []) await open.close();
    opened.delete(schema);
  };
  const sql: IndexServer['sql'] = async (text) => (await beside.query(text)).rows ?? [];
  return {
    url,
    newSchema: () => `index_${randomBytes(6).toString('hex')}`,
    open: async (schema, changed = {}) => keep(schema, await openPostgresIndex({ ...options, schema, ...changed })),
    openBuild: async (schema, changed = {}) =>
      keep(schema, await openPostgresBuild({ ...options, schema, ...changed })),
    sql,
    remove: async (schema) => {
      await close(schema);
      await sql(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
    },
    stop: async () => {
      for (const schema of opened.keys()) await close(schema);
      await beside.end();
      await stop();
    },
  };
}
