/** Where a program of the workbench says things: results, and what a person watching wants to know. */
export interface Outputs {
  readonly result: (text: string) => void;
  readonly note: (text: string) => void;
  /** Replaces the last progress; null takes it away. */
  readonly progress: (text: string | null) => void;
}

const CLEAR_LINE = '\r\u001b[K';

/** The outputs of this process. Its own servers and folders go with it, also when somebody stops it. */
export function openTerminal(): Outputs {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  const watched = process.stderr.isTTY;
  return {
    result: (text) => void process.stdout.write(text),
    note: (text) => void process.stderr.write(`${text}\n`),
    progress: (text) => {
      if (watched) process.stderr.write(`${CLEAR_LINE}${text ?? ''}`);
    },
  };
}
