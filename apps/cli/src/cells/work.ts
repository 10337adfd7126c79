import { setTimeout as sleep } from 'node:timers/promises';
import { problemOf, startMover } from '@slowwave/adapters/cells';
import { systemTools } from '@slowwave/adapters/system';
import type { TenantCopyView } from '@slowwave/contracts';
import type { TenantId } from '@slowwave/engine';
import type { CellDirectory, PlannedHandover, TenantPlace } from '@slowwave/engine/cells';
import { type Call, countOf } from '../command.ts';
import { CommandError, EXIT } from '../exit.ts';
import { tracked } from '../output.ts';
import { type Cells, OK } from './open.ts';

/** So many that were given up are shown. */
export const MOVES_SHOWN = 1_000;

/** Asks for slots to change hands, unless some already do: they come to an end first. */
export async function handOver({ directory }: Cells, plan: readonly PlannedHandover[]): Promise<void> {
  const busy = new Set((await directory.handovers()).flatMap(({ source, destination }) => [source, destination]));
  const free = plan.filter(({ source, destination }) => !busy.has(source) && !busy.has(destination));
  await directory.askHandovers(free.map((one) => ({ ...one, id: systemTools.id('hov') })));
}

const LOOK_EVERY_MS = 250;
const CONCURRENCY_USUAL = 4;
const CONCURRENCY_MAX = 64;

/** Moves owners, together with the routers, until nothing is left to be moved. */
export async function worked(call: Call, { directory, peers, log }: Cells) {
  const { given, out, cancel } = call;
  if (given.flag('later'))
    return { value: { waited: false }, text: 'The routers move them; slowwave cells shows how far they are.' };
  const concurrency = countOf(given, 'concurrency', { usual: CONCURRENCY_USUAL, max: CONCURRENCY_MAX });
  const mover = startMover({ ...{ directory, peers, log, tools: systemTools }, concurrency, idleMs: LOOK_EVERY_MS });
  const before = (await directory.moves(MOVES_SHOWN)).counts.given_up;
  try {
    await tracked(out, { title: 'moving', unit: 'slots and owners' }, async ({ update }) => {
      let most = 0;
      for (let left = await openOf(directory); left > 0; left = await openOf(directory)) {
        most = Math.max(most, left);
        update(most - left, most);
        await sleep(LOOK_EVERY_MS, undefined, { signal: cancel });
      }
    });
  } finally {
    await mover.close();
  }
  const { counts, oldest } = await directory.moves(MOVES_SHOWN);
  const left = oldest.filter(({ state }) => state === 'given_up');
  const isWhole = counts.given_up <= before;
  return {
    value: { waited: true, given_up: left.map(({ tenant, owner, why }) => ({ tenant, ...owner, why })) },
    text: isWhole ? 'Done.' : `Done, but ${counts.given_up} owners stay where they are; slowwave cells says why.`,
    exit: isWhole ? EXIT.done : EXIT.findings,
  };
}

/** Handovers and moves that are not over. */
async function openOf(directory: CellDirectory): Promise<number> {
  const { copying, departing, arriving, leaving_off } = (await directory.moves(0)).counts;
  return (await directory.handovers()).length + copying + departing + arriving + leaving_off;
}

/** So long nothing of a tenant may be changed, if this command is killed in the middle. */
const HOLD_MS = 30_000;
/** Longer than changes take whose routers were killed. */
const CHANGES_OVER_MS = 180_000;

/** What a tenant has in common is copied whole while nobody changes it, and is changed in its new home from then on. */
export async function moveHome(cells: Cells, tenant: TenantId, name: string): Promise<void> {
  const { book, directory } = cells;
  const place = (await book()).homeOf(tenant);
  if (place === null || place.home === name) return;
  for (const deadline = Date.now() + CHANGES_OVER_MS; ; await sleep(LOOK_EVERY_MS)) {
    const now = systemTools.now();
    const heldUntil = now + HOLD_MS;
    const underWay = await directory.holdHome(tenant, { until: heldUntil, now });
    if (underWay === 0 && (await copyHome(cells, place, name))) {
      if (await directory.switchHome(tenant, { to: name, heldUntil, now: systemTools.now() })) return;
    }
    if (Date.now() > deadline)
      throw new CommandError(`${underWay} changes of ${tenant} are not over; run this again`, EXIT.unavailable);
  }
}

/** false: it was changed meanwhile, by somebody who asked the cell itself. */
async function copyHome({ ask, book }: Cells, { tenant, home }: TenantPlace, name: string): Promise<boolean> {
  const read = async (): Promise<TenantCopyView> => {
    const answer = await ask(home, { method: 'GET', path: '/v1/cell/tenant', query: { tenant } });
    if (answer.status !== OK) throw new CommandError(`${home}: ${problemOf(answer).detail}`, EXIT.failed);
    return answer.body as TenantCopyView;
  };
  const { version, copy } = await read();
  const epoch = (await book()).homeOf(tenant)?.epoch ?? 0;
  const body = { tenant, epoch, version, copy };
  const answer = await ask(name, { method: 'PUT', path: '/v1/cell/tenant', body });
  if (answer.status !== OK) throw new CommandError(`${name}: ${problemOf(answer).detail}`, EXIT.failed);
  return (await read()).version === version;
}
