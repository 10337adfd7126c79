import type { Gate } from './gate.ts';

/** G18: memories carry the time they were said at, what held at a time is found for it, and nothing beside it. */
export const time: Gate = ({ course, evidence }) => {
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
