import { Presets, SingleBar } from 'cli-progress';
import { listUpTo } from './api.ts';
import { type Call, countOf, type OptionNote, type Outcome } from './command.ts';

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

type Cell = string | number | null;
type FieldOf<Row> = { [Name in keyof Row]-?: Row[Name] extends Cell ? Name : never }[keyof Row];

/** What each column of a table shows of a row, by its heading: a field, or what follows from several. */
export type Columns<Row> = Readonly<Record<string, FieldOf<Row> | ((row: Row) => Cell)>>;

const GAP = '  ';

/** Rows as text in columns; numbers to the right. Every row is one line, whatever is in it. */
export function table<Row>(columns: Columns<Row>, rows: readonly Row[]): string {
  const names = Object.keys(columns);
  const cells = rows.map((row) =>
    Object.values(columns).map((of) => (typeof of === 'function' ? of(row) : (row[of] as Cell))),
  );
  const texts = cells.map((line) => line.map(oneLine));
  const widths = names.map((name, i) => Math.max(widthOf(name), ...texts.map((line) => widthOf(line[i] ?? ''))));
  const lineOf = (line: readonly string[], values: readonly unknown[]): string =>
    line
      .map((text, i) => padded(text, widths[i] ?? 0, typeof values[i] === 'number'))
      .join(GAP)
      .trimEnd();
  const head = lineOf(names, cells[0] ?? []);
  return [head, ...texts.map((line, i) => lineOf(line, cells[i] ?? []))].join('\n');
}

const LIMIT_USUAL = 50;
const LIMIT_MAX = 100_000;
/** The option of every list. */
export const LIMIT: OptionNote = { value: 'N', about: `Maximum number to list. Default: ${LIMIT_USUAL}.` };
export const MORE = '\n… and more; raise --limit to see them';

interface ListShown<Item> {
  readonly path: string;
  readonly query: Readonly<Record<string, string | null>>;
  readonly columns: Columns<Item>;
}

/** A list of the API up to --limit, and as a table. */
export async function listing<Item>(call: Call, { path, query, columns }: ListShown<Item>) {
  const limit = countOf(call.given, 'limit', { usual: LIMIT_USUAL, max: LIMIT_MAX });
  const { items, more } = await listUpTo<Item>(call, { path, query, limit });
  return { items, more, text: table(columns, items) + (more ? MORE : '') };
}

interface Listed<Item> extends ListShown<Item> {
  /** What the items are called in JSON. */
  readonly as: string;
  /** What is said if there are none. */
  readonly none?: string;
}

/** The same as all that a command prints. */
export async function listed<Item>(call: Call, { as, none, ...shown }: Listed<Item>): Promise<Outcome> {
  const { items, more, text } = await listing(call, shown);
  return { value: { [as]: items, more }, text: items.length === 0 ? (none ?? text) : text };
}

/** Names and values below each other. */
export function pairs(entries: readonly (readonly [string, Cell])[]): string {
  const width = Math.max(...entries.map(([name]) => widthOf(name)));
  return entries.map(([name, value]) => `${padded(name, width, false)}${GAP}${oneLine(value)}`.trimEnd()).join('\n');
}

/** Control characters could move the cursor, or colour what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu;

const oneLine = (value: Cell): string => (value === null ? '–' : String(value).replaceAll(CONTROL, ' '));

function padded(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? space + text : text + space;
}

/** East Asian characters and emoji take two places on a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

const widthOf = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);

/** What long work counts. */
interface ProgressNote {
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

type TerminalBar = NodeJS.WriteStream;

/** Shows how far some work is until it ends, however it ends. */
export async function tracked<T>(out: Output, note: ProgressNote, work: (shown: Progress) => Promise<T>): Promise<T> {
  const progress = out.progress(note);
  try {
    return await work(progress);
  } finally {
    progress.stop();
  }
}

/** A bar that is drawn in place. */
function terminalProgress({ title, unit }: ProgressNote, stream: TerminalBar): Progress {
  const format = `${title} {bar} {percentage}%  {value} of {total} ${unit}  {rate}/s  {stage}`;
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
function lineProgress({ title, unit }: ProgressNote, stream: Stream): Progress {
  const speed = speedometer();
  let written = Number.NEGATIVE_INFINITY;
  let last = '';
  return {
    update: (done, total, stage = '') => {
      const percent = total === 0 ? HUNDRED : Math.floor((done * HUNDRED) / total);
      const of = stage === '' ? title : `${title}, ${stage}`;
      const line = `${of}: ${done} of ${total} ${unit} (${percent}%), ${speed(done, stage)}/s\n`;
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
