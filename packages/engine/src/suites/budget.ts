import type { EngineDeps } from '../deps.ts';
import { EngineError, wasAsked } from '../errors.ts';
import { spaceOf } from '../ids.ts';
import { openAt, type Replay } from '../ports/ledger/replays.ts';
import type { ChatModel } from '../ports/models.ts';
import { DAY_MS } from '../text/dates.ts';
import type { LaneId } from '../words.ts';

/** With less room no answer is begun. */
export const ROOM_FOR_ANSWER = 4_000;
/** What models write at most: as much is reserved, as long as there is so much. */
const ANSWER_MOST = 32_000;
/** Tokenizers of models differ from the one that counts here. */
const LONGER = 1.1;
/** Longer than a call takes with all its tries. */
const LAPSES_MS = 10 * 60_000;
const LOOK_AGAIN_MS = 1_000;

type RunOf = Pick<Replay, 'id' | 'tenant' | 'filter' | 'state'>;

/** All that may be asked for a run, within its budget. */
export function chatsWithinBudget(deps: EngineDeps, run: RunOf): EngineDeps {
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

/**
 * The budget of a run is reserved before it is asked for, and no answer may be longer than its reservation: of workers that ask at
 * once, none passes it. What a worker that died had reserved lapses.
 */
function withinBudget(
  { ledger, tokenizer, tools }: Pick<EngineDeps, 'ledger' | 'tokenizer' | 'tools'>,
  run: RunOf,
  chat: ChatModel,
): ChatModel {
  const budget = run.filter.budget ?? 0;
  return {
    name: chat.name,
    ask: async (call, cancel) => {
      // Nothing of it goes on; its space goes within a week.
      if (run.state === 'failed') throw usedUp(DAY_MS);
      const prompt = Math.ceil(tokenizer.count(call.system + call.user) * LONGER);
      const id = tools.id('cal');
      const now = tools.now();
      const room = { least: prompt + ROOM_FOR_ANSWER, most: prompt + ANSWER_MOST };
      const reserved = await ledger.replays.reserve(run.id, { id, ...room, budget, now, until: now + LAPSES_MS });
      if (reserved === null) {
        const spent = (await ledger.replays.get(run.tenant, run.id))?.spent ?? 0;
        throw spent + room.least > budget ? usedUp(LOOK_AGAIN_MS) : reservedByOthers();
      }
      let tokens = 0;
      try {
        const answer = await chat.ask({ ...call, answerMost: reserved - prompt }, cancel);
        tokens = answer.usage.promptTokens + answer.usage.completionTokens;
        return answer;
      } catch (error) {
        tokens = wasAsked(error, cancel) ? prompt + ROOM_FOR_ANSWER : 0;
        throw error;
      } finally {
        await ledger.replays.settle(run.id, { id, tokens });
      }
    },
  };
}

/** What is used is never less: what waits for this waits in vain. */
const usedUp = (retryAfterMs: number): EngineError =>
  new EngineError('the budget of this run of a suite is used up', {
    ...{ code: 'run_budget_exhausted', retryable: true, countsAsTry: false },
    retryAfterMs,
  });

/** Other calls may use less than they have reserved. */
const reservedByOthers = (): EngineError =>
  new EngineError('other calls have reserved what is left of the budget of this run of a suite', {
    ...{ code: 'budget_exhausted', retryable: true, countsAsTry: false },
    retryAfterMs: LOOK_AGAIN_MS,
  });

/** Whether nothing of a run goes on because its budget is used up. What is reserved may yet be given back. */
export async function isOutOfBudget(
  { ledger, tools }: Pick<EngineDeps, 'ledger' | 'tools'>,
  replay: Replay,
): Promise<boolean> {
  if (openAt(replay.reserved, tools.now()).length > 0) return false;
  const space = spaceOf({ tenant: replay.tenant, replay: replay.id });
  const { batches } = await ledger.replays.match(space, { states: ['consolidating'] }, LOOKED_AT);
  const open = lanesOf(batches);
  const held = lanesOf(batches.filter(({ failure }) => failure?.code === 'run_budget_exhausted'));
  return open.size > 0 && held.size === open.size;
}

const LOOKED_AT = 500;
const lanesOf = (batches: readonly { readonly lane: LaneId }[]): ReadonlySet<LaneId> =>
  new Set(batches.map(({ lane }) => lane));
