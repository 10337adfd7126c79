import { hostThread } from '../../system/thread-host.ts';
import { type ReaderInit, readerOf } from './reader.ts';
import { connectToRead } from './sql.ts';

/** Reads the ledger beside the thread that answers requests. */
hostThread<ReaderInit>(({ path, readOnlyFile }) => readerOf(connectToRead(path, { readOnlyFile })));
