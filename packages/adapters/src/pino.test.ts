import { EngineError } from '@slowwave/engine';
import { describe, expect, test } from 'vitest';
import { createLog, type LogLevel } from './pino.ts';

interface Lines {
  readonly log: ReturnType<typeof createLog>;
  text(): string;
  /** The last line, as its reader sees it. */
  last(): Record<string, unknown>;
}

function logging(level: LogLevel = 'info', pretty = false): Lines {
  const written: string[] = [];
  const log = createLog({ level, name: 'worker', pretty, destination: { write: (line) => void written.push(line) } });
  return { log, text: () => written.join(''), last: () => JSON.parse(written.at(-1) ?? '{}') };
}

describe('a line', () => {
  test('is JSON with an ISO time, a level by name and the name of the program', () => {
    const { log, last } = logging();
    log.warn({ lane: 'lane_1', count: 3 }, 'the lane waits');
    const line = { level: 'warn', name: 'worker', lane: 'lane_1', count: 3, msg: 'the lane waits' };
    expect(last()).toEqual({ ...line, time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u) });
  });

  test('below the level is not written', () => {
    const { log, text } = logging('warn');
    log.debug({}, 'a');
    log.info({}, 'b');
    log.error({}, 'c');
    expect(text().split('\n').filter(Boolean)).toHaveLength(1);
  });

  test('is text for people when asked to be', () => {
    const { log, text } = logging('info', true);
    log.info({ lane: 'lane_1', content: 'I like tea' }, 'consolidated');
    expect(text()).toMatch(/\d\d:\d\d:\d\d\.\d{3}.*INFO.*worker.*consolidated\n.*lane: "lane_1"/su);
    expect(text()).not.toContain('tea');
  });
});

describe('what must never be logged', () => {
  test.each(['content', 'text', 'memory', 'query', 'authorization', 'messages', 'Authorization'])(
    '%s is left out at every depth',
    (field) => {
      const { log, last, text } = logging();
      log.info({ [field]: 'I like tea', a: [{ b: { [field]: ['I like tea'], c: 1 } }] }, 'done');
      expect(last()).toMatchObject({ [field]: '[redacted]', a: [{ b: { [field]: '[redacted]', c: 1 } }] });
      expect(text()).not.toContain('tea');
    },
  );

  test('does not leave with an error, whose message, code and causes stay', () => {
    const { log, last, text } = logging();
    const cause = Object.assign(new Error('429 slow down'), { status: 429, request: { body: 'I like tea' } });
    log.error({ err: new EngineError('overloaded', { code: 'model_overloaded', retryable: true, cause }) }, 'failed');
    const about = { type: 'EngineError', message: 'overloaded', code: 'model_overloaded', retryable: true };
    const below = { type: 'Error', message: '429 slow down', status: 429, stack: expect.any(String) };
    expect(last()).toMatchObject({ err: { ...about, cause: below } });
    expect(text()).not.toContain('tea');
  });

  test('does not leave with an error logged by itself', () => {
    const { log, last, text } = logging();
    log.error(Object.assign(new Error('broken'), { body: 'I like tea' }), 'failed');
    expect(last()).toMatchObject({ err: { message: 'broken' }, msg: 'failed' });
    expect(text()).not.toContain('tea');
  });
});

test('circles, dates, big numbers and nothing at all can be logged, and the caller keeps its object', () => {
  const { log, last } = logging();
  const circle: Record<string, unknown> = {
    text: 'I like tea',
    none: null,
    query: null,
    at: new Date(0),
    big: 2n ** 60n,
  };
  circle.self = circle;
  log.info(circle, 'odd');
  const flat = { none: null, query: null, at: '1970-01-01T00:00:00.000Z', big: '1152921504606846976' };
  expect(last()).toMatchObject({ ...flat, self: { text: '[redacted]' } });
  expect(circle.text).toBe('I like tea');
});
