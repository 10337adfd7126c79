import { describeLedger, recordingLog } from '@slowwave/engine-testing';
import { afterAll } from 'vitest';
import { openPool, openPostgresLedger, SCHEMA_NAME } from '../src/postgres/index.ts';
import { systemTools } from '../src/system/system.ts';
import { givenServer } from './conformance-server.ts';

const url = givenServer('LEDGER_URL');
if (url !== null) await describeOn(url);

async function describeOn(url: string): Promise<void> {
  const log = recordingLog();
  const opened: { close(): Promise<void> }[] = [];
  const open = async () => {
    const ledger = await openPostgresLedger({ url, tools: systemTools, log });
    opened.push(ledger);
    return ledger;
  };
  const ledger = await open();
  const beside = openPool({ url, schema: SCHEMA_NAME, max: 1, log });
  const { rows } = await beside.query("SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'meta'", [
    SCHEMA_NAME,
  ]);
  const tables = rows.map(({ tablename }) => String(tablename)).join(', ');
  afterAll(async () => {
    for (const one of opened) await one.close();
    await beside.end();
  });
  describeLedger('PostgreSQL', async () => {
    await beside.query(`TRUNCATE ${tables}`);
    return { ledger, reopen: open, close: async () => {} };
  });
}
