import type { EngineDeps } from '../deps.ts';
import { EngineError, wasAsked } from '../errors.ts';
import { spaceOf } from '../ids.ts';
import type { Replay } from '../ports/ledger/replays.ts';
import type { ChatModel } from '../ports/models.ts';
import type { LaneId } from '../words.ts';

/** Answers are seldom longer; what is longer is counted when it is there. */
export const ROOM_FOR_ANSWER = 4_000;
/** Tokenizers of models differ from the one that counts here. */
const LONGER = 1.1;
const LOOK_AGAIN_MS = 1_000;

/** All that may be asked for a run, within its budget. */
export function chatsWithinBudget(deps: EngineDeps, run: Pick<Replay, 'id' | 'filter'>): EngineDeps {
  const within = (chat: ChatModel): ChatModel => withinBudget(deps, run, chat);
  return {
    ...deps,
    chat: within(deps.chat),
    chats: Object.fromEntries(Object.entries(deps.chats).map(([step, chat]) => [step, within(chat)])),
    otherChat: (...named) => {
      const chat = deps.otherChat(...named);
      return chat === null ? null : within(chat);
    },
    imageModel: deps.imageModel && within(deps.imageModel),
  };
}

/** The budget of a run is spent before it is asked for: of workers that ask at once, none passes it. */
function withinBudget(
  { ledger, tokenizer }: Pick<EngineDeps, 'ledger' | 'tokenizer'>,
  run: Pick<Replay, 'id' | 'filter'>,
  chat: ChatModel,
): ChatModel {
  const budget = run.filter.budget ?? 0;
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      const tokens = Math.ceil(tokenizer.count(call.system + call.user) * LONGER) + ROOM_FOR_ANSWER;
      if (!(await ledger.replays.spend(run.id, { tokens, budget }))) throw budgetReached();
      let used = 0;
      try {
        const answer = await chat.ask(call, cancel);
        used = answer.usage.promptTokens + answer.usage.completionTokens;
        return answer;
      } catch (error) {
        used = wasAsked(error, cancel) ? tokens : 0;
        throw error;
      } finally {
        await ledger.replays.spend(run.id, { tokens: used - tokens, budget: Number.MAX_SAFE_INTEGER });
      }
    },
  };
}

/** What the batches of a run wait for whose budget is used up. */
const BUDGET_REACHED = 'the budget of this run of a suite is used up';

const budgetReached = (): EngineError =>
  new EngineError(BUDGET_REACHED, {
    ...{ code: 'budget_exhausted', retryable: true, countsAsTry: false },
    retryAfterMs: LOOK_AGAIN_MS,
  });

/** Whether nothing of a run goes on because its budget is used up. */
export async function isOutOfBudget({ ledger }: Pick<EngineDeps, 'ledger'>, replay: Replay): Promise<boolean> {
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  const { batches } = await ledger.replays.match(space, { states: ['consolidating'] }, LOOKED_AT);
  const open = lanesOf(batches);
  const held = lanesOf(batches.filter(({ failure }) => failure?.message.includes(BUDGET_REACHED)));
  return open.size > 0 && held.size === open.size;
}

const LOOKED_AT = 500;
const lanesOf = (batches: readonly { readonly lane: LaneId }[]): ReadonlySet<LaneId> =>
  new Set(batches.map(({ lane }) => lane));
