/** A column of a table: what it is called, and what it shows of a row. */
export interface Column<Row> {
  readonly name: string;
  readonly of: (row: Row) => string | number | null;
}

const GAP = '  ';

/** Rows as text in columns; numbers to the right. Every row is one line, whatever is in it. */
export function table<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = rows.map((row) => columns.map(({ of }) => of(row)));
  const texts = cells.map((line) => line.map(oneLine));
  const widths = columns.map(({ name }, i) => Math.max(widthOf(name), ...texts.map((line) => widthOf(line[i] ?? ''))));
  const lineOf = (line: readonly string[], values: readonly unknown[]): string =>
    line
      .map((text, i) => padded(text, widths[i] ?? 0, typeof values[i] === 'number'))
      .join(GAP)
      .trimEnd();
  const head = lineOf(
    columns.map(({ name }) => name),
    cells[0] ?? [],
  );
  return [head, ...texts.map((line, i) => lineOf(line, cells[i] ?? []))].join('\n');
}

/** Names and values below each other. */
export function pairs(entries: readonly (readonly [string, string | number | null])[]): string {
  const width = Math.max(...entries.map(([name]) => widthOf(name)));
  return entries.map(([name, value]) => `${padded(name, width, false)}${GAP}${oneLine(value)}`.trimEnd()).join('\n');
}

/** Control characters could move the cursor, or colour what follows. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/gu;

const oneLine = (value: string | number | null): string =>
  value === null ? '–' : String(value).replaceAll(CONTROL, ' ');

function padded(text: string, width: number, right: boolean): string {
  const space = ' '.repeat(Math.max(0, width - widthOf(text)));
  return right ? space + text : text + space;
}

/** East Asian characters and emoji take two places on a terminal. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;

const widthOf = (text: string): number => [...text].length + (text.match(WIDE)?.length ?? 0);
