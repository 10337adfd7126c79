import type { EngineDeps } from '../deps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { isWithheld } from '../words.ts';
import type { GatheredTurn } from './values.ts';

/** Reads what the turn is about: its pinned messages, what was said before them, and what the tenant has chosen. */
export async function gather({ ledger, settings }: EngineDeps, turn: Turn): Promise<GatheredTurn> {
  const [rules, gathered] = await Promise.all([
    ledger.settings.get(turn.tenant),
    ledger.thoughts.gather(turn, settings.recentMessages),
  ]);
  return { turn, rules, ...gathered, recent: gathered.recent.filter(({ content }) => !isWithheld(content)) };
}
