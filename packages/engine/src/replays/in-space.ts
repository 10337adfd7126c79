import type { EngineDeps } from '../deps.ts';
import { EngineError } from '../errors.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { ThoughtStore } from '../ports/ledger/thoughts.ts';
import type { Meter } from '../ports/meter.ts';
import type { ChatModel } from '../ports/models.ts';
import type { TurnDeps } from '../turns/take-turn.ts';
import type { TenantId } from '../words.ts';
import { originOf, spaceIn } from './space.ts';
import { changedSettings, changesFrom } from './start.ts';

/** What a turn works with. In a shadow space studies follow it, and no summaries. */
export async function depsOf(deps: TurnDeps, { tenant }: Pick<Turn, 'tenant'>): Promise<TurnDeps> {
  const inSpace = await depsInSpace(deps, tenant);
  if (inSpace === null) return deps;
  return { ...inSpace, followUps: { summarize: async () => {}, study: (lanes) => deps.followUps.study(lanes) } };
}

/**
 * What turns and studies of a shadow space work with: what its what-if changes, and the conversation as it was in life.
 * Calls of models are measured, they are paid for; nothing else that happens there is anybody's figure. null: it is none.
 */
export async function depsInSpace(deps: EngineDeps, tenant: TenantId): Promise<EngineDeps | null> {
  const space = spaceIn(tenant);
  if (space === null) return null;
  const { ledger, settings } = deps;
  const replay = await ledger.replays.get(space.tenant, space.replay);
  const changes = changesFrom(replay?.changes ?? {});
  return {
    ...deps,
    chat: changes.model === undefined ? deps.chat : chatNamed(deps, changes.model),
    settings: changedSettings(settings, changes),
    ledger: { ...ledger, thoughts: { ...ledger.thoughts, gather: gatherFromLife(deps) } },
    meter: paidCalls(deps.meter),
  };
}

/** Where none can be asked by name any more, the batches say so and wait. */
const chatNamed = ({ otherChat }: EngineDeps, model: string): ChatModel =>
  otherChat(model) ?? { name: model, ask: () => Promise.reject(nobodyFor(model)) };

const nobodyFor = (model: string): EngineError =>
  new EngineError(
    `expected a model server for the model ${model}, got none; set OPENAI_BASE_URL or OPENAI_API_KEY, or discard the replay`,
    { code: 'model_misconfigured', retryable: true, countsAsTry: false },
  );

/** Only the messages of the window are copies; what was said before them is read where it was said. */
const gatherFromLife =
  ({ ledger }: EngineDeps): ThoughtStore['gather'] =>
  async (turn, recentCount) => {
    const own = await ledger.thoughts.gather(turn, recentCount);
    const tenant = spaceIn(turn.tenant)?.tenant ?? turn.tenant;
    const original = await ledger.batches.get(tenant, originOf(turn.batchIds[0] ?? ''));
    if (original === null || original.consolidationId === null) return own;
    const { id, lane, consolidationId } = original;
    const life = await ledger.thoughts.gather({ ...turn, tenant, lane, consolidationId, batchIds: [id] }, recentCount);
    return { ...own, summary: life.summary, recent: life.recent };
  };

const paidCalls = (meter: Meter): Meter => ({
  step: () => {},
  call: (...told) => meter.call(...told),
  turn: () => {},
  facts: () => {},
  searchable: () => {},
});
