import type { Course } from './course.ts';
import type { Consolidation, Evidence, HistoryEvent, Stats } from './evidence.ts';
import type { World } from './world.ts';

/** What is judged. */
export interface Case {
  readonly world: World;
  readonly course: Course;
  readonly evidence: Evidence;
  readonly posted: { readonly batchIds: readonly string[]; readonly statsBefore: Stats };
  readonly calls: readonly { readonly name: string }[];
}

/** One line of the table. */
export interface GateResult {
  readonly gate: string;
  readonly what: string;
  readonly figures: string;
  readonly target: string;
  readonly passed: boolean;
  /** What went wrong, one line each. */
  readonly misses: readonly string[];
}

type Gate = (given: Case) => GateResult;

/** 0.98765 → 98.7%, never rounded up to a target it missed. */
const percent = (share: number): string => `${Math.floor(share * 1_000) / 10}%`;

/** All of none is all. */
const shareOf = (part: number, whole: number): number => (whole === 0 ? 1 : part / whole);

/** From here on a world is large: of many memories like it, the one to update may be missed once in so many. */
const LARGE = 1_000;
const ONE_IN = 1_473;

/** G1, and for large worlds G2: what holds in the end is the gold, no more and no less, and came about by updates. */
const finalState: Gate = ({ world, course, evidence }) => {
  const gold = new Set(world.gold);
  const texts = evidence.live.map(({ memory }) => memory);
  const live = new Set(texts);
  const right = [...live].filter((text) => gold.has(text)).length;
  const stale = texts.filter((text) => course.stale.has(text));
  const lost = [...gold].filter((text) => !live.has(text));
  const others = texts.length - right - stale.length;
  const updates = [...evidence.histories.values()].flat().filter(({ event }) => event === 'UPDATE').length;
  const isLarge = gold.size >= LARGE;
  const mayMiss = isLarge ? Math.ceil(gold.size / ONE_IN) : 0;
  const [precision, recall] = [shareOf(right, texts.length), shareOf(right, gold.size)];
  return {
    gate: isLarge ? 'G2' : 'G1',
    what: 'final state',
    figures:
      `precision ${percent(precision)}, recall ${percent(recall)}, live ${texts.length}, updates ${updates}, ` +
      `stale ${stale.length}, lost ${lost.length}${others > 0 ? `, other ${others}` : ''}`,
    target: `${isLarge ? '' : 'precision 100%, '}recall 100%, live ${gold.size}, updates ${course.updates}, stale ≤ ${mayMiss}, lost 0`,
    passed: recall === 1 && texts.length - right <= mayMiss && Math.abs(updates - course.updates) <= mayMiss,
    misses: [...stale.map((text) => `stale: ${text}`), ...lost.map((text) => `lost: ${text}`)],
  };
};

const LEAST_RIGHT = 0.99;

/** G4: questions find what holds first, and never something outdated above it. */
const questions: Gate = ({ course, evidence }) => {
  const judged = evidence.answers.map(({ question, found }) => {
    const gold = found.findIndex((text) => question.gold.includes(text));
    const stale = found.findIndex((text) => course.stale.has(text));
    return { question, found, first: gold === 0, stale: stale !== -1 && (gold === -1 || stale < gold) };
  });
  const first = judged.filter((one) => one.first).length;
  const stale = judged.filter((one) => one.stale).length;
  const asked = judged.length;
  return {
    gate: 'G4',
    what: 'questions on it',
    figures:
      asked === 0 ? 'no questions in the file' : `right at rank 1: ${first} of ${asked}, stale above fresh: ${stale}`,
    target: `≥ ${Math.ceil(asked * LEAST_RIGHT)} of ${asked}, 0`,
    passed: first >= asked * LEAST_RIGHT && stale === 0,
    misses: judged
      .filter((one) => !one.first || one.stale)
      .map(
        ({ question, found }) => `${question.text} → ${found[0] ?? 'nothing'} (wanted: ${question.gold.join(' | ')})`,
      ),
  };
};

/** G8: the events alone lead to what holds, and each change says what was there before it. */
const history: Gate = ({ evidence }) => {
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

/** G9: behind each memory stands a message that its user posted. */
const provenance: Gate = ({ evidence, posted }) => {
  const own = new Set(posted.batchIds);
  const misses = evidence.live.flatMap(({ id, memory }) => {
    const sources = (evidence.sources.get(id) ?? []).filter((source) => source.is_source);
    if (sources.length === 0) return [`no message behind: ${memory}`];
    const foreign = sources.some((source) => !own.has(source.batch_id));
    if (foreign) return [`a message of another user behind: ${memory}`];
    return sources.some((source) => source.content.includes(memory)) ? [] : [`no message behind it says: ${memory}`];
  });
  return {
    gate: 'G9',
    what: 'provenance',
    figures: `${percent(1 - shareOf(misses.length, Math.max(evidence.live.length, 1)))} name their source messages`,
    target: '100%',
    passed: misses.length === 0,
    misses,
  };
};

/** G14: what was accepted is accounted for, and so is every fact of it. */
const conservation: Gate = ({ world, evidence, posted }) => {
  const { gap, pending, consolidating, parked } = evidence.stats.batches;
  const parkedNow = parked - posted.statsBefore.batches.parked;
  const plans = evidence.consolidations.flatMap(({ plan }) => (plan === null ? [] : [plan]));
  const unsettled = plans.flatMap(({ facts, outcomes }) =>
    facts.filter(({ id }) => {
      const ends = outcomes.filter(({ fact }) => fact === id);
      return ends.length !== 1 || ends[0]?.reason === '';
    }),
  );
  const found = new Set(plans.flatMap(({ facts }) => facts.map(({ text }) => text)));
  const unread = world.batches
    .flatMap(({ messages }) => messages)
    .filter(({ role, content }) => role === 'user' && !found.has(content));
  const waiting = pending + consolidating;
  return {
    gate: 'G14',
    what: 'nothing lost',
    figures: `gap ${gap}, waiting ${waiting}, parked ${parkedNow}, facts without one outcome ${unsettled.length}, messages without a fact ${unread.length}`,
    target: 'all 0',
    passed: [gap, waiting, parkedNow, unsettled.length, unread.length].every((count) => count === 0),
    misses: [
      ...unsettled.map(({ text }) => `no single outcome: ${text}`),
      ...unread.map(({ content }) => `no fact: ${content}`),
    ],
  };
};

/** G18: memories carry the time they were said at, what held at a time is found for it, and nothing beside it. */
const time: Gate = ({ course, evidence }) => {
  const undated = evidence.live.filter(({ memory, valid_from, said_at }) => {
    const times = course.times.get(memory);
    return times !== undefined && !(isOneOf(times, valid_from) && isOneOf(times, said_at));
  });
  const wrong = evidence.moments.flatMap(({ moment, found }) => {
    const texts = found.map(({ memory }) => memory);
    if (!texts.includes(moment.holds)) return [`at ${moment.at} not found: ${moment.holds}`];
    const other = texts.find((text) => moment.others.includes(text));
    return other === undefined ? [] : [`at ${moment.at} found beside "${moment.holds}": ${other}`];
  });
  const twice = evidence.moments.flatMap(({ moment, found }) =>
    found.length === new Set(found.map(({ id }) => id)).size ? [] : [`at ${moment.at} one memory has two versions`],
  );
  const misses = [...undated.map(({ memory }) => `another time than it was said at: ${memory}`), ...wrong, ...twice];
  return {
    gate: 'G18',
    what: 'time',
    figures:
      evidence.moments.length === 0
        ? 'the file has no times'
        : `${evidence.moments.length} moments asked for, ${wrong.length} wrong, overlapping ${twice.length}, misdated ${undated.length}`,
    target: 'all 0 wrong',
    passed: misses.length === 0,
    misses,
  };
};

const isOneOf = (times: readonly string[], time: string): boolean =>
  times.some((one) => Date.parse(one) === Date.parse(time));

/** One call to extract, one to decide; a long transcript is extracted in parts. */
const allowed = (consolidation: Consolidation): number =>
  Math.max(1, consolidation.answers.filter(({ step }) => /^extract(:\d+)?$/.test(step)).length) + 1;
const callsOf = ({ plan }: Consolidation): number => plan?.usage.calls ?? 0;
const PER_MESSAGE_MAX = 0.2;

/** G17: how often a model was asked, for one consolidation and over all, summaries and other follow-ups counted. */
const calls: Gate = ({ world, evidence, calls: asked }) => {
  const plans = evidence.consolidations.filter(({ plan }) => plan !== null);
  const over = plans.filter((one) => callsOf(one) > allowed(one));
  const most = Math.max(0, ...plans.map(callsOf));
  const messages = world.batches.reduce((sum, batch) => sum + batch.messages.length, 0);
  const perMessage = asked.length / Math.max(messages, 1);
  const byName = Object.entries(Object.groupBy(asked, ({ name }) => name)).map(
    ([name, all]) => `${name} ${all?.length}`,
  );
  return {
    gate: 'G17',
    what: 'model calls',
    figures: `most per consolidation ${most} (${plans.length} of them), per message ${perMessage.toFixed(3)} (${byName.join(', ')})`,
    target: `≤ 2, or parts + 1 for long ones; ≤ ${PER_MESSAGE_MAX}`,
    passed: over.length === 0 && perMessage <= PER_MESSAGE_MAX && asked.length > 0,
    misses: over.map((one) => `${one.id} took ${callsOf(one)} calls`),
  };
};

/** In the order of the table. */
export const GATES: readonly Gate[] = [finalState, questions, history, provenance, conservation, calls, time];
