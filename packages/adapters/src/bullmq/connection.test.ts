import { EventEmitter } from 'node:events';
import { recordingLog } from '@slowwave/engine-testing';
import { afterEach, expect, test, vi } from 'vitest';
import { logErrorsQuietly, newPulse } from './connection.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('many errors are one line per ten seconds, which counts the others', () => {
  vi.useFakeTimers();
  const source = new EventEmitter();
  const log = recordingLog();
  logErrorsQuietly(source, { place: 'redis://host:6379', pulse: newPulse() }, log);
  for (let i = 0; i < 50; i += 1) source.emit('error', new Error('ECONNREFUSED'));
  expect(log.lines).toHaveLength(1);
  vi.advanceTimersByTime(10_000);
  source.emit('error', new Error('ECONNREFUSED'));
  expect(log.lines).toHaveLength(2);
  expect(log.lines[1]?.fields).toEqual({ place: 'redis://host:6379', error: 'ECONNREFUSED', suppressed: 49 });
});
