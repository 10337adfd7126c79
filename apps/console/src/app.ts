import { needScope, type Routes } from '@slowwave/http';
import { ceilingsRoutes } from './ceilings.ts';
import { deleteKey } from './delete-key.ts';
import { deleteMemories } from './delete-memories.ts';
import { deleteMemory } from './delete-memory.ts';
import { deleteOwner } from './delete-owner.ts';
import { deleteReplay } from './delete-replay.ts';
import type { ConsoleDeps } from './deps.ts';
import { exportUser } from './export-user.ts';
import { getConsolidation } from './get-consolidation.ts';
import { getDoctor } from './get-doctor.ts';
import { getErasure } from './get-erasure.ts';
import { getReplay } from './get-replay.ts';
import { getSettings } from './get-settings.ts';
import { graphRoutes } from './graph/routes.ts';
import { listAudit } from './list-audit.ts';
import { listConsolidations } from './list-consolidations.ts';
import { listKeys } from './list-keys.ts';
import { listReplays } from './list-replays.ts';
import { listReviews } from './list-reviews.ts';
import { listUndos } from './list-undos.ts';
import { patchMemory } from './patch-memory.ts';
import { postKey } from './post-key.ts';
import { postMemory } from './post-memory.ts';
import { postPreview } from './post-preview.ts';
import { postRedo } from './post-redo.ts';
import { postReplay } from './post-replay.ts';
import { postRestore } from './post-restore.ts';
import { postRetentionPreview } from './post-retention-preview.ts';
import { postReview } from './post-review.ts';
import { postRollback } from './post-rollback.ts';
import { postUndo } from './post-undo.ts';
import { putSettings } from './put-settings.ts';
import { queuePages } from './queues/pages.ts';
import { rotateKey } from './rotate-key.ts';
import { studies } from './studies.ts';
import { webhookRoutes } from './webhooks/routes.ts';

export type { ConsoleDeps } from './deps.ts';

/** Explicit writes, insight into decisions, and repair; by what a key has to be for. */
export const consoleRoutes =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    await app.register(manageRoutes(deps));
    await app.register(adminRoutes(deps));
    await app.register(operatorRoutes(deps));
  };

const manageRoutes =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'manage');
    postMemory(app, deps);
    patchMemory(app, deps);
    postRestore(app, deps);
    deleteMemory(app, deps);
    deleteMemories(app, deps);
    listConsolidations(app, deps);
    getConsolidation(app, deps);
    studies(app, deps);
    postPreview(app, deps);
    postUndo(app, deps);
    postRollback(app, deps);
    postRedo(app, deps);
    listUndos(app, deps);
    listReviews(app, deps);
    postReview(app, deps);
    deleteOwner(app, deps);
    getErasure(app, deps);
    exportUser(app, deps);
    postRetentionPreview(app, deps);
    getSettings(app, deps);
    putSettings(app, deps);
    webhookRoutes(app, deps);
    graphRoutes(app, deps);
  };

const adminRoutes =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'admin');
    postReplay(app, deps);
    listReplays(app, deps);
    getReplay(app, deps);
    deleteReplay(app, deps);
    postKey(app, deps);
    listKeys(app, deps);
    deleteKey(app, deps);
    rotateKey(app, deps);
    listAudit(app, deps);
  };

/** They show or examine what belongs to all tenants. */
const operatorRoutes =
  (deps: ConsoleDeps): Routes =>
  async (app) => {
    needScope(app, 'operator');
    getDoctor(app, deps);
    ceilingsRoutes(app, deps);
    await app.register(queuePages(deps));
  };
