import type { AddressInfo } from 'node:net';
import { cellAsker, httpPeers, openDirectory, startMover } from '@slowwave/adapters/cells';
import type { RouterConfig } from '@slowwave/adapters/config';
import { createLog } from '@slowwave/adapters/pino';
import { systemTools } from '@slowwave/adapters/system';
import type { CellPeers, DirectoryBook } from '@slowwave/engine/cells';
import { Registry, type Service } from '@slowwave/http';
import { routed } from './route.ts';
import { openSender } from './send.ts';
import { routerServer } from './server.ts';
import { openTenants } from './tenants.ts';
import { type Repeated, repeatedly, watchDirectory } from './watch.ts';

/** How often a router looks whether there is an owner to be moved. */
const MOVES_EVERY_MS = 500;

/** A router keeps nothing: any number of them may run, on any number of machines. */
export async function compose(config: RouterConfig): Promise<Service> {
  const log = createLog({ level: config.logLevel, name: 'router' });
  const directory = await openDirectory(config.directory, log);
  const watched = await watchDirectory(directory, log);
  const tools = { ...systemTools, now: watched.now };
  const sender = openSender();
  const urlOf = async (cell: string): Promise<string | null> => watched.book.cell(cell)?.url ?? null;
  const asker = cellAsker({ urlOf, apiKey: config.apiKey });
  const { refresh, book } = watched;
  const tenants = openTenants({ book, directory, refresh, ask: asker.ask, sender, log, tools });
  const peers = httpPeers(asker.ask, tools);
  const losses = tellTheLost(book, peers);
  const mover =
    config.moves === 0
      ? null
      : startMover({
          ...{ directory, tools, log, peers },
          ...{ concurrency: config.moves, idleMs: MOVES_EVERY_MS },
        });
  const registry = new Registry();
  let isWithdrawn = false;
  const server = routerServer({
    ...{ registry, log },
    ready: () => readiness(isWithdrawn, watched.silentMs(), book.cells().length),
    route: (asked) => routed({ watched, tenants, sender, directory, ask: asker.ask, tools }, asked),
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(config.port, config.host, resolve);
  });
  const { address, family, port } = server.address() as AddressInfo;
  const stop = async (): Promise<void> => {
    await mover?.close();
    await losses.close();
    await new Promise((resolve) => {
      server.close(resolve);
      server.closeIdleConnections();
    });
    await tenants.close();
    await watched.close();
    await Promise.all([asker.close(), sender.close(), directory.close()]);
  };
  return {
    url: `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`,
    drain: async () => {
      isWithdrawn = true;
      await new Promise((resolve) => setTimeout(resolve, config.drainMs));
    },
    close: stop,
  };
}

/** Requests still find their way by what the router knows; another one may know more. */
const SILENT_LIMIT_MS = 30_000;

function readiness(isWithdrawn: boolean, silentMs: number, cells: number): string | null {
  if (isWithdrawn) return 'the process is shutting down; send requests to another instance';
  if (silentMs > SILENT_LIMIT_MS) return 'the directory of cells is unavailable; see the log for the reason';
  return cells === 0 ? 'the directory has no cells yet; add one with slowwave cells add NAME URL' : null;
}

/** How often a lost cell is looked for: nobody sends it anything, but callers may still have its own address. */
const TELLS_EVERY_MS = 2_000;

/** Tells each cell that was given up for lost so, should it come back: it keeps that, and serves nobody from then on. */
const tellTheLost = (book: DirectoryBook, peers: CellPeers): Repeated =>
  repeatedly(TELLS_EVERY_MS, async () => {
    await Promise.allSettled(book.lost().map(({ name }) => peers.tellLoss(name, { lost: name, anew: false })));
  });
