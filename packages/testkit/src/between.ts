/** The text with what stands between two lines replaced. */
export function between(text: string, [first, last]: readonly [string, string], content: string): string {
  const start = text.indexOf(`${first}\n`);
  const end = text.indexOf(last, start);
  if (start < 0 || end < 0)
    throw new Error(`expected the lines "${first}" and "${last}", did not find them; put them back`);
  return `${text.slice(0, start + first.length)}\n${content}\n${text.slice(end)}`;
}
