import { sizeOfCell } from '@slowwave/adapters/cells';
import { type CellDirectory, isLost, type NewHome, planDrain } from '@slowwave/engine/cells';
import type { Call } from '../command.ts';
import { CommandError, EXIT, UsageError } from '../exit.ts';
import { type Cells, layoutOf, withCells } from './open.ts';
import { worked } from './work.ts';

export const loseCell = (call: Call) =>
  withCells(call, async (cells) => {
    const name = call.given.words[0] ?? '';
    const homes = await givenUp(call, cells, name);
    const done = await worked(call, cells, '');
    const anew = call.given.flag('begin-anew') ? await begunAnew(cells, name) : null;
    const ended = anew === null ? waiting(name) : begun(name, anew);
    const text = [...(done.text === '' ? [] : [done.text]), ...homes.map(saidOf), ended].join('\n');
    return {
      value: { ...done.value, lost: name, homes, begun_anew: anew !== null },
      text,
      exit: done.exit ?? EXIT.done,
    };
  });

const saidOf = ({ tenant, home, isBehind }: NewHome): string =>
  `The home cell of ${tenant} is ${home}${isBehind ? '; it may lack the last change: check its settings and keys' : ''}.`;

const waiting = (name: string): string =>
  `${name} was given up. Requests for its owners get cell_lost until you run slowwave cells lost ${name} --begin-anew.`;

const begun = (name: string, forgotten: number): string =>
  `The slots of ${name} were given to the other cells, and its owners start over${forgotten === 0 ? '' : `, ${forgotten} that had moved there, too`}.`;

async function givenUp({ given }: Call, cells: Cells, name: string): Promise<readonly NewHome[]> {
  const book = await cells.book();
  const cell = book.cell(name);
  if (cell === null) throw new UsageError(`expected the name of a cell, got "${name}"`, 'cells lost');
  if (book.cells().every((one) => one.name === name))
    throw new CommandError(`${name} is the only cell, so no other cell can take its owners`, EXIT.failed);
  if (!isLost(cell)) {
    const { answers } = await sizeOfCell(cells.ask, cell);
    if (answers && !given.flag('force'))
      throw new CommandError(
        `${name} responds: move its owners with slowwave cells drain ${name}, or give it up anyway with --force`,
        EXIT.failed,
      );
  }
  const homes = (await cells.directory.loseCell(name)) ?? [];
  // For their audit logs; and slots that were on their way are told apart anew. Whoever does not answer hears it from routers.
  for (const one of book.cells()) {
    await cells.peers.tellLoss(one.name, { lost: name, anew: false }).catch(() => {});
    if (one.name !== name) await tellSlots(cells, one.name).catch(() => {});
  }
  return homes;
}

const tellSlots = async ({ peers, directory }: Cells, cell: string): Promise<void> =>
  peers.tellSlots(cell, await directory.slotsOf(cell));

/** Every other cell has to hear it first: it would go on to say of owners that they moved to the lost one. */
async function begunAnew(cells: Cells, name: string): Promise<number> {
  const book = await cells.book();
  const others = book.cells().map((cell) => cell.name);
  let forgotten = 0;
  for (const other of others)
    forgotten += await cells.peers.tellLoss(other, { lost: name, anew: true }).catch(unheard(other, name));
  const plan = book.cell(name)?.state === 'lost' ? planDrain({ ...layoutOf(book), ranges: book.ranges() }, name) : [];
  const left: Awaited<ReturnType<CellDirectory['leaveBehind']>> = await cells.directory.leaveBehind(name, plan);
  if (left > 0)
    throw new CommandError(
      `${left} owners are still being moved from ${name}; run this command again when they have arrived`,
      EXIT.failed,
    );
  for (const other of others) await tellSlots(cells, other).catch(unheard(other, name));
  return forgotten;
}

const unheard =
  (cell: string, lost: string) =>
  (error: unknown): never => {
    throw new CommandError(
      `could not tell ${cell} that owners of ${lost} start over: ${error instanceof Error ? error.message : String(error)}; run this again`,
      EXIT.unavailable,
    );
  };
