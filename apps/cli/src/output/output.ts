import { lineProgress, type Progress, type ProgressNote, type TerminalBar, terminalProgress } from './progress.ts';

/** A stream that is written to, as far as this program cares. */
export interface Stream {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

/** How a command speaks: answers on standard output, everything else on standard error. */
export interface Output {
  readonly json: boolean;
  /** What was asked for: the value for programs, the text for people. */
  answer(value: unknown, text: string): void;
  /** A remark for people, beside the answer. */
  say(text: string): void;
  /** How far long work is: a bar on a terminal, a line now and then elsewhere. */
  progress(note: ProgressNote): Progress;
}

export function output({ stdout, stderr, json }: { stdout: Stream; stderr: Stream; json: boolean }): Output {
  return {
    json,
    answer: (value, text) => {
      stdout.write(json ? `${JSON.stringify(value)}\n` : withNewline(text));
    },
    say: (text) => {
      stderr.write(withNewline(text));
    },
    progress: (note) =>
      stderr.isTTY === true ? terminalProgress(note, stderr as TerminalBar) : lineProgress(note, stderr),
  };
}

const withNewline = (text: string): string => (text.endsWith('\n') ? text : `${text}\n`);
