import type { Command } from '../command.ts';
import { auditCommand } from './audit.ts';
import { backupCommand } from './backup.ts';
import { batchesCommand } from './batches.ts';
import { ceilingsCommand } from './ceilings.ts';
import { doctorCommand } from './doctor.ts';
import { eraseCommand } from './erase.ts';
import { flushCommand } from './flush.ts';
import { graphCommand } from './graph.ts';
import { importMem0Command } from './import.ts';
import { createKeyCommand, listKeysCommand, revokeKeyCommand, rotateKeyCommand } from './keys.ts';
import { rebuildIndexCommand } from './rebuild-index.ts';
import { rebuildQueueCommand } from './rebuild-queue.ts';
import { replayCommand } from './replay.ts';
import { restoreCommand } from './restore.ts';
import { showCommand } from './show.ts';
import { statusCommand } from './status.ts';
import { tailCommand } from './tail.ts';
import { redoCommand, rollbackCommand, undoCommand } from './undo.ts';
import { whatIfCommand } from './what-if.ts';

/** Everything the program can do, in the order of its help. */
export const COMMANDS: readonly Command[] = [
  statusCommand,
  tailCommand,
  batchesCommand,
  showCommand,
  graphCommand,
  flushCommand,
  replayCommand,
  whatIfCommand,
  undoCommand,
  rollbackCommand,
  redoCommand,
  eraseCommand,
  listKeysCommand,
  createKeyCommand,
  revokeKeyCommand,
  rotateKeyCommand,
  ceilingsCommand,
  auditCommand,
  doctorCommand,
  rebuildIndexCommand,
  rebuildQueueCommand,
  backupCommand,
  restoreCommand,
  importMem0Command,
];
