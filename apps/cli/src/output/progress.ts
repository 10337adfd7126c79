import { Presets, SingleBar } from 'cli-progress';
import type { Stream } from './output.ts';

/** What long work counts. */
export interface ProgressNote {
  readonly title: string;
  /** What is counted, in the plural. */
  readonly unit: string;
}

export interface Progress {
  /** `stage` names the part of the work that this is of. */
  update(done: number, total: number, stage?: string): void;
  /** Ends it, whether or not the work came to its end. */
  stop(): void;
}

export type TerminalBar = NodeJS.WriteStream;

/** A bar that is drawn in place. */
export function terminalProgress({ title, unit }: ProgressNote, stream: TerminalBar): Progress {
  const format = `${title} {bar} {percentage} %  {value} of {total} ${unit}  {rate}/s  {stage}`;
  const bar = new SingleBar({ format, stream, hideCursor: true, clearOnComplete: false }, Presets.shades_classic);
  let started = false;
  const speed = speedometer();
  return {
    update: (done, total, stage = '') => {
      const payload = { rate: speed(done, stage), stage };
      if (!started) bar.start(total, done, payload);
      started = true;
      bar.setTotal(total);
      bar.update(done, payload);
    },
    stop: () => {
      if (started) bar.stop();
    },
  };
}

/** Often enough to see that it lives, seldom enough for a log. */
const LINE_EVERY_MS = 5_000;
const HUNDRED = 100;

/** A line now and then, and one at the end. */
export function lineProgress({ title, unit }: ProgressNote, stream: Stream): Progress {
  const speed = speedometer();
  let written = Number.NEGATIVE_INFINITY;
  let last = '';
  return {
    update: (done, total, stage = '') => {
      const percent = total === 0 ? HUNDRED : Math.floor((done * HUNDRED) / total);
      const of = stage === '' ? title : `${title}, ${stage}`;
      const line = `${of}: ${done} of ${total} ${unit} (${percent} %), ${speed(done, stage)}/s\n`;
      if (performance.now() - written < LINE_EVERY_MS) {
        last = line;
        return;
      }
      stream.write(line);
      written = performance.now();
      last = '';
    },
    stop: () => {
      if (last !== '') stream.write(last);
      last = '';
    },
  };
}

const SECOND_MS = 1_000;

/** How many a second since a stage began; what had been done before it is not counted. */
function speedometer(): (done: number, stage: string) => number {
  let began = { at: performance.now(), done: 0, stage: '' };
  let first = true;
  return (done, stage) => {
    if (first || stage !== began.stage) began = { at: performance.now(), done: first ? done : 0, stage };
    first = false;
    const seconds = (performance.now() - began.at) / SECOND_MS;
    return seconds < 1 ? done - began.done : Math.round((done - began.done) / seconds);
  };
}
