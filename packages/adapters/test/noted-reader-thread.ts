import { type ReaderInit, readerOf } from '../src/sqlite/ledger/reader.ts';
import { connectToRead } from '../src/sqlite/ledger/sql.ts';
import { hostThread } from '../src/system/thread-host.ts';
import { noting, type Statements, telling } from './noted-statements.ts';

/** A thread that reads a ledger, and notes its statements. */
hostThread<ReaderInit>(({ path, readOnlyFile }) => {
  const statements: Statements = new Map();
  return telling(readerOf(noting(connectToRead(path, { readOnlyFile }), statements)), statements);
});
