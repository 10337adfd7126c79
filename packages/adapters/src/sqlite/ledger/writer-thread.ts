import { scriptNamed } from '../../ledger/access.ts';
import '../../ledger/stores.ts';
import { hostThread, type ThreadCall, type ThreadHost } from '../../system/thread-host.ts';
import { compactFile } from '../compact.ts';
import { sameFile } from '../same-file.ts';
import { asLedgerError } from './errors.ts';
import { groupCommit, type Handler } from './group-commit.ts';
import { migrate } from './migrate.ts';
import { runScript } from './script.ts';
import { BUSY_TIMEOUT_MS, connectToWrite, type Sql } from './sql.ts';
import { WRITES } from './write/index.ts';
import { COMMITTED, COMPACT, type WriterInit } from './writer-protocol.ts';

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
  const writer = groupCommit(sql, (method) => handlers.get(method) ?? scripted(method), sameFile(path));
  return {
    close: writer.close,
    receive: (call) => {
      if (call.method === COMMITTED) return call.answer(writer.committed());
      return call.method === COMPACT ? compact(sql, call) : writer.receive(call);
    },
  };
}

function scripted(name: string): Handler | undefined {
  const script = scriptNamed(name);
  return script && ((sql, input) => runScript(sql, script(input as never)));
}

/** Messages are taken one by one and groups end before the next: no transaction is open here. */
function compact(sql: Sql, call: ThreadCall): void {
  try {
    call.answer(compactFile(sql, { busyMs: BUSY_TIMEOUT_MS }));
  } catch (error) {
    call.fail(asLedgerError(error));
  }
}
