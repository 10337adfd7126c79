import type { HistoryEvent } from '../evidence.ts';
import type { Gate } from './gate.ts';

/** G8: the events alone lead to what holds, and each change says what was there before it. */
export const history: Gate = ({ evidence }) => {
  const live = new Map(evidence.live.map(({ id, memory }) => [id, memory]));
  const misses: string[] = [];
  let changes = 0;
  for (const [id, events] of evidence.histories) {
    const replayed = replay(id, events);
    changes += replayed.changes;
    misses.push(...replayed.misses);
    const now = live.get(id) ?? null;
    if (replayed.text !== now)
      misses.push(`${id} replays to ${replayed.text ?? 'nothing'}, but ${now ?? 'nothing'} holds`);
  }
  const unknown = [...live.keys()].filter((id) => (evidence.histories.get(id)?.length ?? 0) === 0);
  misses.push(...unknown.map((id) => `${id} has no history`));
  return {
    gate: 'G8',
    what: 'history replays',
    figures: `${evidence.histories.size} lives replayed, ${changes} changes with the old text, ${misses.length} differences`,
    target: '0 differences',
    passed: misses.length === 0,
    misses,
  };
};

interface Replayed {
  readonly text: string | null;
  readonly changes: number;
  readonly misses: readonly string[];
}

/** What was said last holds, unless it was undone; at the same moment, what was recorded last. */
function replay(id: string, events: readonly HistoryEvent[]): Replayed {
  const misses: string[] = [];
  const said: HistoryEvent[] = [];
  let changes = 0;
  for (const event of events.toSorted((a, b) => a.version - b.version)) {
    if (event.version !== said.length + 1) misses.push(`${id} has no event ${said.length + 1}`);
    const before = holding(said);
    if (event.event === 'UPDATE' || event.event === 'DELETE') {
      changes += 1;
      if (event.previous !== before)
        misses.push(`${id}.${event.version} says ${event.previous} was there, not ${before}`);
    }
    said.push(event);
  }
  return { text: holding(said), changes, misses };
}

/** What no UNDO that counts itself takes back. */
function counting(events: readonly HistoryEvent[]): HistoryEvent[] {
  const gone = new Set<number>();
  for (const { event, version, retracts } of events.toReversed()) {
    if (event === 'UNDO' && !gone.has(version)) for (const one of retracts ?? []) gone.add(one);
  }
  return events.filter(({ event, version }) => event !== 'UNDO' && event !== 'FEEDBACK' && !gone.has(version));
}

function holding(said: readonly HistoryEvent[]): string | null {
  const inOrder = counting(said).toSorted(
    (a, b) => Date.parse(a.said_at) - Date.parse(b.said_at) || a.version - b.version,
  );
  const last = inOrder.findLast(({ event }) => event !== 'NONE');
  return last === undefined || last.event === 'DELETE' ? null : last.memory;
}
