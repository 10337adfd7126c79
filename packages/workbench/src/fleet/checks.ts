import type { FleetEvidence, UserEvidence } from './evidence.ts';
import { heldAfter, textOf, userOf } from './said.ts';

/** Something that must hold, and where it does not. */
export interface Check {
  readonly what: string;
  readonly misses: readonly string[];
}

/** Whether nothing was lost, doubled or done out of order. */
export function checkFleet(evidence: FleetEvidence): readonly Check[] {
  const of = (what: string, missesOf: (user: UserEvidence) => readonly string[]): Check => ({
    what,
    misses: evidence.users.flatMap((user) => missesOf(user).map((miss) => `${userOf(user.user)}: ${miss}`)),
  });
  return [
    { what: 'nothing is lost', misses: losses(evidence) },
    of('every batch has one outcome', manyOutcomes),
    of("a lane's batches are consolidated in order", disorder),
    of('a lane has one consolidation at a time', overlaps),
    of('every fact is applied once, in the order said', doubles),
    of('events replay to what holds', unlikeReplay),
  ];
}

function losses({ counts, users }: FleetEvidence): string[] {
  const expected = users.reduce((sum, { posted }) => sum + posted.length, 0);
  const { accepted, consolidated, gap } = counts;
  const whole = accepted === expected && consolidated === expected && gap === 0;
  return whole
    ? []
    : [`expected ${expected} batches accepted and consolidated and gap 0, got ${JSON.stringify(counts)}`];
}

function manyOutcomes({ posted, batches, consolidations }: UserEvidence): string[] {
  const applied = consolidations.filter(({ state }) => state === 'applied');
  return posted.flatMap((id) => {
    const found = batches.filter((batch) => batch.id === id);
    const by = applied.filter(({ batch_ids }) => batch_ids.includes(id)).map((consolidation) => consolidation.id);
    const [batch] = found;
    const right =
      found.length === 1 && by.length === 1 && batch?.state === 'consolidated' && batch.consolidation_id === by[0];
    return right
      ? []
      : [`batch ${id} is ${found.map(({ state }) => state).join(', ') || 'gone'}, applied by ${by.length}`];
  });
}

function disorder({ posted, consolidations }: UserEvidence): string[] {
  const order = consolidations.filter(({ state }) => state === 'applied').flatMap(({ batch_ids }) => batch_ids);
  return order.join() === posted.join() ? [] : [`posted ${posted.join(' ')}, consolidated ${order.join(' ')}`];
}

/** A consolidation begins when its lane is claimed, which must not be before the last one was applied. */
function overlaps({ consolidations }: UserEvidence): string[] {
  return consolidations.flatMap(({ id, created_at }, i) => {
    const before = consolidations[i - 1];
    if (before === undefined || (before.applied_at !== null && before.applied_at <= created_at)) return [];
    return [`${id} began at ${created_at}, ${before.id} was applied at ${before.applied_at}`];
  });
}

/** Said in one order, so applied in it: the levels in the life of one memory, each stamp in a life of its own. */
function doubles({ user, posted, histories }: UserEvidence): string[] {
  const said = posted.map((_, batch) => textOf(user, batch));
  const lives = [...histories.values()].map((events) => events.map(({ memory }) => memory ?? ''));
  const held = new Set(heldAfter(user, posted.length));
  const expected = [
    ...said.filter((text) => held.has(text) && !isLevel(text)).map((text) => [text]),
    ...(said.some(isLevel) ? [said.filter(isLevel)] : []),
  ];
  const sorted = (list: readonly string[][]): string => JSON.stringify(list.map((life) => life.join(' → ')).sort());
  return sorted(lives) === sorted(expected) ? [] : [`expected the lives ${sorted(expected)}, got ${sorted(lives)}`];
}

const isLevel = (text: string): boolean => text.includes('has reached level');

function unlikeReplay({ user, posted, live, histories }: UserEvidence): string[] {
  const replayed = [...histories].map(([id, events]) => `${id} ${replay(events)}`);
  const found = live.map(({ id, memory }) => `${id} ${memory}`);
  const texts = live.map(({ memory }) => memory).sort();
  const expected = heldAfter(user, posted.length).sort();
  return [
    ...(replayed.sort().join() === found.sort().join() ? [] : [`events replay to ${replayed}, live is ${found}`]),
    ...(texts.join() === expected.join() ? [] : [`expected ${expected.join(', ')} to hold, got ${texts.join(', ')}`]),
  ];
}

/** The text that events leave, each checked against what it found; null when one does not fit. */
function replay(events: EventsOf): string | null {
  let text: string | null = null;
  for (const [i, { version, previous, memory }] of events.entries()) {
    if (version !== i + 1 || previous !== text) return null;
    text = memory;
  }
  return text;
}

type EventsOf = UserEvidence['histories'] extends ReadonlyMap<string, infer Events> ? Events : never;
