import { hostThread } from '../../system/thread-host.ts';
import { asLedgerError } from '../file.ts';
import { migrate } from './migrate.ts';
import { connectToWrite } from './sql.ts';
import { type WriterInit, writerOf } from './writer.ts';

/** The one thread of a process that writes to its ledger. */
hostThread<WriterInit>(({ path, newLedgerId }) => {
  try {
    const sql = connectToWrite(path);
    migrate(sql, newLedgerId);
    return writerOf(sql, path);
  } catch (error) {
    throw asLedgerError(error);
  }
});
