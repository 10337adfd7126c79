/** What lies between a call of the writer and SQLite, for the workbench, which measures it. The product goes through index.ts. */

export { postedFrom } from '../ledger/batches.ts';
export { laneStore } from '../ledger/lanes.ts';
export { memoryStore } from '../ledger/memories.ts';
export { type Access, madeOnce, type Row, type RowsStep, type Script, type Step } from '../ledger/script.ts';
export { append } from './ledger/append.ts';
export { migrate } from './ledger/migrate.ts';
export { connectToWrite, insertRows, markedOf, noSteps, runScript, type Sql } from './ledger/sql.ts';
