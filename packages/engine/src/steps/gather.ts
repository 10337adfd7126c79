import type { EngineDeps } from '../deps.ts';
import type { Turn } from '../ports/ledger/lanes.ts';
import { DEFAULT_SETTINGS } from '../settings.ts';
import type { GatheredTurn } from './values.ts';

/** Reads what the turn is about: its pinned messages, and what was said before them. */
export async function gather(deps: EngineDeps, turn: Turn): Promise<GatheredTurn> {
  const gathered = await deps.ledger.thoughts.gather(turn, deps.settings.recentMessages);
  return { turn, rules: DEFAULT_SETTINGS, ...gathered };
}
