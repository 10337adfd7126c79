import { readFile } from 'node:fs/promises';
import { CommandError, EXIT } from '../exit.ts';

/** The items of a file: a JSON list, an object with a list in it, or one JSON value a line. */
export async function itemsInFile(path: string): Promise<readonly unknown[]> {
  const text = await readFile(path, 'utf8').catch((cause: Error) => {
    throw new CommandError(`expected a file to read, got ${cause.message}`, EXIT.notFound);
  });
  const whole = parsed(text);
  if (whole === undefined) return lines(path, text);
  if (Array.isArray(whole)) return whole;
  const list = ['memories', 'results', 'data']
    .map((name) => (whole as Record<string, unknown>)?.[name])
    .find(Array.isArray);
  if (list !== undefined) return list;
  throw new CommandError(
    `expected ${path} to have a list of memories, also in memories or results; it has none`,
    EXIT.failed,
  );
}

function lines(path: string, text: string): unknown[] {
  return text.split('\n').flatMap((line, i) => {
    if (line.trim() === '') return [];
    const value = parsed(line);
    if (value !== undefined) return [value];
    throw new CommandError(`expected ${path} to be JSON, or JSON in each line; line ${i + 1} is not`, EXIT.failed);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
