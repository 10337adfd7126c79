import type { IndexBuild } from '@slowwave/engine';
import { startThread } from '../../system/index.ts';
import { callsTo, INDEX_THREAD } from './calls.ts';
import type { BuildMethods, IndexSpace, IndexThreadInit } from './protocol.ts';

/** A new index beside the one in use, in its file. Other processes may have it open. */
export async function openSqliteBuild({
  path,
  dimensions,
  fingerprint,
}: IndexSpace & { readonly path: string }): Promise<IndexBuild & { close(): Promise<void> }> {
  const init: IndexThreadInit = { role: 'builder', path, space: { dimensions, fingerprint }, cacheBytes: 0 };
  const thread = await startThread(INDEX_THREAD, init);
  const call = callsTo<BuildMethods>(thread, path);
  return {
    begun: (ledgerId) => call('begun', ledgerId),
    begin: (note) => call('begin', note),
    write: (points) => call('write', points),
    forget: (of) => call('forget', of),
    withdraw: (withdrawals) => call('withdraw', withdrawals),
    note: (note) => call('note', note),
    takeOver: () => call('takeOver'),
    finish: (marker) => call('finish', marker),
    close: () => thread.close(),
  };
}
