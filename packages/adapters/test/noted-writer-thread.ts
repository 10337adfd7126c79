import { migrate } from '../src/sqlite/ledger/migrate.ts';
import { connectToWrite } from '../src/sqlite/ledger/sql.ts';
import { type WriterInit, writerOf } from '../src/sqlite/ledger/writer.ts';
import { hostThread } from '../src/system/thread-host.ts';
import { noting, type Statements, telling } from './noted-statements.ts';

/** The thread that writes to a ledger, and notes its statements. */
hostThread<WriterInit>(({ path, newLedgerId }) => {
  const statements: Statements = new Map();
  const sql = connectToWrite(path);
  migrate(sql, newLedgerId);
  return telling(writerOf(noting(sql, statements), path), statements);
});
