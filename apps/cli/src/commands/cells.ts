import { type Command, OWNER } from '../command.ts';

/** What they do is loaded with the command: most others need neither directory nor engine. */
const acts = () => import('../cells/acts.ts');

/** Options of every command that moves. */
const CONCURRENCY = { value: 'N', about: 'Owners that this command moves at a time. Default: 4.' };
const LATER = { value: null, about: 'Leave the moving to the routers, and do not wait for it.' };

const TO = { value: 'NAME', about: 'The cell that gets them.' };
const TENANT = { value: 'NAME', about: 'The tenant of the owner. Default: default.' };

export const cellsCommand: Command = {
  name: 'cells',
  on: 'stores',
  summary: 'List the cells, what each has, and what is being moved.',
  about: `Cells are whole installations behind a router; docs/cells.md describes them. All these commands need
SLOWWAVE_DIRECTORY, and SLOWWAVE_API_KEY if the cells have one.`,
  run: async (call) => (await acts()).listCells(call),
};

export const addCellCommand: Command = {
  name: 'cells add',
  on: 'stores',
  usage: '<name> <url>',
  summary: 'Add a cell, and move its share of the owners to it.',
  about: `The first cell has everybody. Each further one has to be empty; owners move to it from all others while
everything goes on. Stopped and started again, it goes on.`,
  options: {
    share: { value: 'SHARE', about: 'Of all owners, 0 to 1. Default: as much as each of the others.' },
    later: LATER,
    concurrency: CONCURRENCY,
  },
  run: async (call) => (await acts()).addCell(call),
};

export const moveToCellCommand: Command = {
  name: 'cells move',
  on: 'stores',
  summary: 'Move an owner, or everybody of some slots, to another cell.',
  about: `While they move, messages are accepted and searches are answered. Slots are what all ids of an owner carry
of its hash, 0 to 65535; new owners follow their slots.`,
  options: {
    ...OWNER,
    tenant: TENANT,
    slots: { value: 'FROM-TO', about: 'Instead of one owner: everybody of these slots.' },
    to: TO,
    later: LATER,
    concurrency: CONCURRENCY,
  },
  run: async (call) => (await acts()).moveToCell(call),
};

export const drainCellCommand: Command = {
  name: 'cells drain',
  on: 'stores',
  usage: '<name>',
  summary: 'Move everybody out of a cell, to take it away.',
  about: `Its slots go to the other cells, and so do all owners in it and the homes of tenants. Then it can be
removed. Stopped and started again, it goes on.`,
  options: { later: LATER, concurrency: CONCURRENCY },
  run: async (call) => (await acts()).drainCell(call),
};

export const rebalanceCellsCommand: Command = {
  name: 'cells rebalance',
  on: 'stores',
  summary: 'Move owners until all cells have about as many memories.',
  options: { later: LATER, concurrency: CONCURRENCY },
  run: async (call) => (await acts()).rebalanceCells(call),
};

export const homeOfTenantCommand: Command = {
  name: 'cells home',
  on: 'stores',
  usage: '<tenant> <name>',
  summary: 'Change the cell in which settings, keys and webhooks of a tenant are changed.',
  about: 'Whoever changes any of them meanwhile waits for a moment. Its users stay where they are.',
  run: async (call) => (await acts()).changeHome(call),
};

export const removeCellCommand: Command = {
  name: 'cells remove',
  on: 'stores',
  usage: '<name>',
  summary: 'Take a cell that was drained out of the directory.',
  run: async (call) => (await acts()).removeCell(call),
};

export const lostCellCommand: Command = {
  name: 'cells lost',
  on: 'stores',
  usage: '<name>',
  summary: 'Give a cell up that cannot be brought back.',
  about: `Nothing is sent to it any more, and its owners are answered with cell_lost. Moves from it and to it end, and tenants
whose home it was get another one. With --begin-anew its slots go to the other cells: from then on its owners are new ones, of
whom nothing is remembered. Neither can be undone; if the cell comes back, it serves nobody.`,
  options: {
    force: { value: null, about: 'Although the cell answers.' },
    'begin-anew': { value: null, about: 'Its owners begin anew in the other cells.' },
    later: LATER,
    concurrency: CONCURRENCY,
  },
  run: async (call) => (await import('../cells/lost.ts')).loseCell(call),
};
