import { hostThread, type ThreadHost } from '../../system/index.ts';
import { asLedgerError } from './errors.ts';
import { groupCommit, type Handler } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { connectToWrite } from './sql.ts';
import { WRITES } from './write/index.ts';
import { COMMITTED, type WriterInit } from './writer-protocol.ts';

/** The one thread of a process that writes to its ledger. */
hostThread<WriterInit>((init) => {
  try {
    return setUp(init);
  } catch (error) {
    throw asLedgerError(error);
  }
});

function setUp({ path, newLedgerId }: WriterInit): ThreadHost {
  const sql = connectToWrite(path);
  migrate(sql, newLedgerId);
  const handlers = new Map<string, Handler>(Object.entries(WRITES) as [string, Handler][]);
  const writer = groupCommit(sql, (method) => handlers.get(method));
  return {
    close: writer.close,
    receive: (call) => (call.method === COMMITTED ? call.answer(writer.committed()) : writer.receive(call)),
  };
}
