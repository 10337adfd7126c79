import type { OpenEngine } from '@slowwave/adapters/assemble';
import { queueFor } from '@slowwave/adapters/bullmq';
import { newSecret } from '@slowwave/adapters/keys';
import { hurriedEmbedder } from '@slowwave/adapters/limits';
import { newWebhookSecret } from '@slowwave/adapters/webhooks';
import { QUEUES } from '@slowwave/contracts';
import { examine, graphWriter, memoryWriter, preview, reviewer, undoer } from '@slowwave/engine';
import type { ConsoleDeps } from './deps.ts';
import { fewPreviews } from './few-previews.ts';
import { replayLane } from './replay-lane.ts';

/** The manage routes' dependencies over an open engine. */
export function manageDeps({ deps, images, tenantModels, connection, schedule, urls }: OpenEngine): ConsoleDeps {
  const { ledger, tools, log, otherChat } = deps;
  // Whoever writes waits for the answer.
  const prompt = { ...deps, embedder: hurriedEmbedder(deps.embedder) };
  const nudge = schedule.nudge;
  return {
    ledger,
    tools,
    log,
    otherChat,
    tenantModels,
    ceilings: deps.settings.ceilings,
    nudge,
    newSecret,
    webhooks: { check: urls.check, newSecret: newWebhookSecret },
    writer: memoryWriter(prompt),
    graphWriter: graphWriter(prompt),
    reviewer: reviewer(prompt),
    undoer: undoer(prompt),
    images,
    preview: fewPreviews((batch, cancel) => preview(deps, batch, cancel)),
    examine: (how) => examine(deps, how),
    queues: Object.values(QUEUES).map(({ name }) => queueFor(connection, name)),
    replayLane: replayLane({ ledger, tools, log, nudge }),
  };
}
