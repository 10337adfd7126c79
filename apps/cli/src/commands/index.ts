import type { Command } from '../command.ts';
import { auditCommand, keyCommands } from './access.ts';
import { batchCommands, flushCommand } from './batches.ts';
import { bundleCommands } from './bundle.ts';
import { canaryCommands } from './canary.ts';
import { cellCommands } from './cells.ts';
import { coldCommands } from './cold.ts';
import { nightCommands, reviewCommands, undoCommands } from './decisions.ts';
import { doctorCommand, statusCommand } from './doctor.ts';
import { importMem0Command } from './import-mem0.ts';
import { maintenanceCommands } from './maintenance.ts';
import { mcpCommand } from './mcp.ts';
import { eraseCommand, graphCommand, memoryCommands } from './memories.ts';
import { modelCommands } from './models.ts';
import { indexMoveCommands } from './move.ts';
import { replayCommands } from './replay.ts';
import { runCommands } from './runs.ts';
import { settingCommands } from './settings.ts';
import { suiteCommands } from './suites.ts';
import { ceilingsCommand, holdCommands, usageCommands } from './usage.ts';
import { webhookCommands } from './webhooks.ts';

/** Everything the program can do, in the order of its help. */
export const COMMANDS: readonly Command[] = [
  ...memoryCommands,
  mcpCommand,
  statusCommand,
  ...batchCommands,
  graphCommand,
  flushCommand,
  ...replayCommands,
  ...suiteCommands,
  ...canaryCommands,
  ...undoCommands,
  eraseCommand,
  ...settingCommands,
  ...runCommands,
  ...reviewCommands,
  ...holdCommands,
  ...nightCommands,
  ...webhookCommands,
  ...keyCommands,
  ceilingsCommand,
  auditCommand,
  ...usageCommands,
  doctorCommand,
  ...modelCommands,
  ...indexMoveCommands,
  ...cellCommands,
  ...maintenanceCommands,
  ...coldCommands,
  ...bundleCommands,
  importMem0Command,
];
