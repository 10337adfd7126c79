import { inEffect, isPinned, lastSaidAt } from '../memories/evolve.ts';
import { ratingsOf } from '../memories/ratings.ts';
import type { Credit } from '../ports/ledger/feedback.ts';
import { isPersonsLine } from '../profile/rank.ts';
import { creditScore } from '../receipts/receipts.ts';
import type { SleepSettings } from '../settings.ts';
import { DAY_MS, dateTextOf } from '../text/dates.ts';
import type { Memory, Millis } from '../words.ts';
import { type DatedPlan, planIn } from './age.ts';
import type { Desk, Live } from './drafts.ts';
import { actKey, type Sight } from './sight.ts';

/** Twice a year: what nobody has said, confirmed or needed for so long stands back; after as long again a person is asked. */
const UNNEEDED_MS = 180 * DAY_MS;

interface Ruling {
  readonly desk: Desk;
  readonly lives: readonly Live[];
  readonly acts: SleepSettings['acts'];
  readonly sight: Sight;
  readonly credits: readonly Credit[];
  readonly now: Millis;
  /** How many acts there may be. */
  readonly most: number;
}

/** What needs no model. Answers when the next dated plan is over; null: there is none. */
export function actByRule({ desk, lives, acts, sight, credits, now, most }: Ruling): Millis | null {
  const credited = Map.groupBy(credits, ({ memoryId }) => memoryId);
  let next: Millis | null = null;
  for (const live of lives.filter(({ memory, version }) => !version.details.immutable && !isPersonsLine(memory))) {
    const plan = acts.age ? planIn(live.version) : null;
    if (plan !== null && plan.overAt > now) next = Math.min(next ?? plan.overAt, plan.overAt);
    if (desk.drafts.length >= most) continue;
    if (plan !== null && plan.overAt <= now) age({ desk, live, sight }, plan);
    else if (acts.fade) fade({ desk, live, sight, now, credits: credited.get(live.memory.id) ?? [] });
  }
  return next;
}

function age({ desk, live, sight }: Pick<Fading, 'desk' | 'live' | 'sight'>, { text, overAt }: DatedPlan): void {
  if (!sight.judge(actKey('age', live))) return;
  const reason = `planned until ${dateTextOf(overAt - 1)}, which is over`;
  desk.reword(live, { text, from: overAt, reason });
}

interface Fading extends Pick<Ruling, 'desk' | 'sight' | 'credits' | 'now'> {
  readonly live: Live;
}

function fade({ desk, live, sight, credits, now }: Fading): void {
  const { memory, version } = live;
  if (!isUnneeded(live, credits)) return;
  const days = Math.floor((now - lastSaidAt(memory).at) / DAY_MS);
  const said = `it has not been said, confirmed or used for ${days} days`;
  if (version.details.faded !== true) {
    if (now - lastHeard(memory) > UNNEEDED_MS && sight.judge(actKey('fade', live))) desk.fade(live, said);
  } else if (now - lastHeard(memory) > UNNEEDED_MS && sight.judge(actKey('forget', live))) {
    const reason = `${said}, and it ranks lower since then; forget it?`;
    desk.ask({ act: 'fade', reason, decidedBy: 'rule' }, live, []);
  }
}

/** Said once, pinned by nobody, rated by nobody, and no help in any answer. */
function isUnneeded({ memory, version }: Live, credits: readonly Credit[]): boolean {
  const helped = credits.some((one) => one.version === version.number && creditScore(one) > 0);
  return memory.confirmations === 0 && !isPinned(memory) && !helped && ratingsOf(memory)(version.number).length === 0;
}

/** When something was last recorded of it. */
const lastHeard = (memory: Memory): Millis =>
  Math.max(...inEffect(memory.timeline).map(({ recordedAt }) => recordedAt));
