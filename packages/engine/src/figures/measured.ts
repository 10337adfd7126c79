import type { EngineDeps } from '../deps.ts';
import { textOfContent } from '../messages/messages.ts';
import type { Plan } from '../plan.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { Consolidation } from '../ports/ledger/thoughts.ts';
import { messagesOf } from '../replays/lives.ts';
import { hasFacts, type Message } from '../words.ts';
import type { FiguresOfModel } from './figures.ts';
import { figuresOf, type MeasuredConsolidation } from './measure.ts';

/** A consolidation as the ledger has it. What retention has removed of it cannot be measured any more. */
export async function measuredIn(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { id, tenant, batchIds }: Pick<Consolidation, 'id' | 'tenant' | 'batchIds'>,
): Promise<MeasuredConsolidation> {
  const [plan, answers] = await Promise.all([ledger.thoughts.plan(id), ledger.thoughts.answers(id)]);
  const messages: Message[] = [];
  for (const batchId of batchIds) {
    const batch = await ledger.batches.get(tenant, batchId);
    if (batch !== null) messages.push(...(await messagesOf({ ledger }, batch)));
  }
  return { plan, messages, answers };
}

/** A turn with its plan, which is about to be applied. */
interface PlannedTurn {
  readonly turn: Pick<Turn, 'consolidationId' | 'settings'>;
  readonly plan: Plan;
  readonly messages: readonly Message[];
}

/** Facts times characters of messages: so much is measured within some milliseconds, and a turn waits no longer. */
const MEASURED_MAX = 1_000_000;

/** null: nothing was thought, or there is too much to be measured beside the work. */
export async function measuredOf(
  { ledger }: Pick<EngineDeps, 'ledger'>,
  { turn, plan, messages }: PlannedTurn,
): Promise<FiguresOfModel | null> {
  const chars = messages.reduce((sum, { content }) => sum + textOfContent(content).length, 0);
  if (!hasFacts(turn.settings) || chars * plan.facts.length > MEASURED_MAX) return null;
  const answers = await ledger.thoughts.answers(turn.consolidationId);
  return { model: plan.models.chat, figures: figuresOf({ plan, messages, answers }) };
}
