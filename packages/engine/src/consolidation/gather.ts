import type { EngineDeps } from '../deps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import type { StoredAnswer } from '../ports/ledger/thoughts.ts';
import { isWithheld } from '../words.ts';
import type { GatheredTurn } from './values.ts';

/** Reads what the turn is about: its pinned messages, what was said before them, and what the tenant has chosen. */
export async function gather({ ledger, settings }: EngineDeps, turn: Turn): Promise<GatheredTurn> {
  const [terms, gathered] = await Promise.all([
    ledger.settings.terms(turn.tenant),
    ledger.thoughts.gather(turn, settings.recentMessages),
  ]);
  return { turn, ...terms, ...gathered, recent: gathered.recent.filter(({ content }) => !isWithheld(content)) };
}

/** What a turn goes on with that has read all this: what is its own, or holds for all of it, is not read again. */
export function withGathered(deps: EngineDeps, { turn, rules, ceilings, thought }: GatheredTurn): EngineDeps {
  const { ledger } = deps;
  const { settings, thoughts } = ledger;
  const answers = [...thought.answers];
  const answerTo = (step: string, inputHash: string): StoredAnswer | null =>
    answers.find((one) => one.step === step && one.inputHash === inputHash) ?? null;
  return {
    ...deps,
    ledger: {
      ...ledger,
      settings: {
        ...settings,
        get: async (tenant) => (tenant === turn.tenant ? rules : settings.get(tenant)),
        ceilings: async (tenant) => (tenant === turn.tenant ? ceilings : settings.ceilings(tenant)),
      },
      thoughts: {
        ...thoughts,
        answer: async (_, step, inputHash) => answerTo(step, inputHash),
        answers: async () => answers,
        storeAnswer: async (of, answer) => {
          const stored = await thoughts.storeAnswer(of, answer);
          if (stored.kind === 'stored' && answerTo(answer.step, answer.inputHash) === null) answers.push(answer);
          return stored;
        },
      },
    },
  };
}
