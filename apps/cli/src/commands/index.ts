import type { Command } from '../command.ts';
import { assessSuiteCommand, sampleSuiteCommand } from './assess.ts';
import { auditCommand } from './audit.ts';
import { backupCommand, restoreCommand } from './backup.ts';
import { batchesCommand, flushCommand, tailCommand } from './batches.ts';
import { exportCommand, importCommand } from './bundle.ts';
import { calibrateModelsCommand } from './calibrate.ts';
import {
  listCanariesCommand,
  promoteCanaryCommand,
  showCanaryCommand,
  startCanaryCommand,
  stopCanaryCommand,
  undoCanaryCommand,
} from './canary.ts';
import {
  addCellCommand,
  cellsCommand,
  drainCellCommand,
  homeOfTenantCommand,
  lostCellCommand,
  moveToCellCommand,
  rebalanceCellsCommand,
  removeCellCommand,
} from './cells.ts';
import { coolCommand, listColdCommand, sweepColdCommand, wakeCommand } from './cold.ts';
import { doctorCommand, statusCommand } from './doctor.ts';
import { loadEmbedderCommand } from './embedder.ts';
import { eraseCommand } from './erase.ts';
import { graphCommand } from './graph.ts';
import { holdsCommand, releaseHoldCommand } from './holds.ts';
import { importMem0Command } from './import.ts';
import { ceilingsCommand, createKeyCommand, listKeysCommand, revokeKeyCommand, rotateKeyCommand } from './keys.ts';
import { mcpCommand } from './mcp.ts';
import {
  addCommand,
  contextCommand,
  exportUserCommand,
  historyCommand,
  memoriesCommand,
  searchCommand,
  usersCommand,
} from './memories.ts';
import { checkModelsCommand } from './models.ts';
import {
  abandonIndexCommand,
  backToIndexCommand,
  confirmIndexCommand,
  moveIndexCommand,
  statusOfMoveCommand,
  switchIndexCommand,
} from './move.ts';
import { applyNightCommand, discardNightCommand, nightsCommand, withoutNightsCommand } from './nights.ts';
import { planCommand } from './plan.ts';
import { profileCommand, putLineCommand, takeLineCommand } from './profile.ts';
import { promoteCommand } from './promote.ts';
import { rebuildIndexCommand, rebuildQueueCommand } from './rebuild.ts';
import { replayCommand, whatIfCommand } from './replay.ts';
import { approveCommand, rejectCommand, reviewsCommand } from './reviews.ts';
import { endRunCommand, runStateCommand, runsCommand } from './runs.ts';
import { setSettingCommand, settingsCommand } from './settings.ts';
import { showCommand } from './show.ts';
import {
  ciSuiteCommand,
  exportSuiteCommand,
  importSuiteCommand,
  listSuitesCommand,
  recordSuiteCommand,
  runSuiteCommand,
  showSuiteCommand,
} from './suites.ts';
import { redoCommand, rollbackCommand, undoCommand } from './undo.ts';
import { usageCommand } from './usage.ts';
import {
  createWebhookCommand,
  deleteWebhookCommand,
  listDeliveriesCommand,
  listWebhooksCommand,
  replayWebhookCommand,
} from './webhooks.ts';

/** Everything the program can do, in the order of its help. */
export const COMMANDS: readonly Command[] = [
  addCommand,
  searchCommand,
  contextCommand,
  usersCommand,
  memoriesCommand,
  historyCommand,
  profileCommand,
  putLineCommand,
  takeLineCommand,
  exportUserCommand,
  mcpCommand,
  statusCommand,
  tailCommand,
  batchesCommand,
  showCommand,
  graphCommand,
  flushCommand,
  replayCommand,
  whatIfCommand,
  recordSuiteCommand,
  listSuitesCommand,
  showSuiteCommand,
  runSuiteCommand,
  sampleSuiteCommand,
  assessSuiteCommand,
  exportSuiteCommand,
  importSuiteCommand,
  ciSuiteCommand,
  startCanaryCommand,
  listCanariesCommand,
  showCanaryCommand,
  stopCanaryCommand,
  promoteCanaryCommand,
  undoCanaryCommand,
  undoCommand,
  rollbackCommand,
  redoCommand,
  eraseCommand,
  settingsCommand,
  setSettingCommand,
  runsCommand,
  runStateCommand,
  endRunCommand,
  reviewsCommand,
  approveCommand,
  rejectCommand,
  holdsCommand,
  releaseHoldCommand,
  nightsCommand,
  applyNightCommand,
  discardNightCommand,
  withoutNightsCommand,
  listWebhooksCommand,
  createWebhookCommand,
  deleteWebhookCommand,
  listDeliveriesCommand,
  replayWebhookCommand,
  listKeysCommand,
  createKeyCommand,
  revokeKeyCommand,
  rotateKeyCommand,
  ceilingsCommand,
  auditCommand,
  usageCommand,
  planCommand,
  doctorCommand,
  checkModelsCommand,
  calibrateModelsCommand,
  loadEmbedderCommand,
  moveIndexCommand,
  statusOfMoveCommand,
  switchIndexCommand,
  backToIndexCommand,
  confirmIndexCommand,
  abandonIndexCommand,
  cellsCommand,
  addCellCommand,
  moveToCellCommand,
  drainCellCommand,
  rebalanceCellsCommand,
  homeOfTenantCommand,
  removeCellCommand,
  lostCellCommand,
  rebuildIndexCommand,
  promoteCommand,
  rebuildQueueCommand,
  backupCommand,
  restoreCommand,
  listColdCommand,
  coolCommand,
  wakeCommand,
  sweepColdCommand,
  exportCommand,
  importCommand,
  importMem0Command,
];
