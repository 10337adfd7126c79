import type { Slowwave } from '@slowwave/sdk';

type Lines = ReturnType<Slowwave['users']['export']>;

/** Saves all data of a user as a file, one JSON object a line, once all of it has arrived. */
export async function saveExport(exported: Lines, name: string): Promise<void> {
  const lines: string[] = [];
  let isWhole = false;
  for await (const line of exported) {
    lines.push(`${JSON.stringify(line)}\n`);
    isWhole = line.type === 'end';
  }
  if (!isWhole) throw new Error('the export is incomplete; try again');
  const address = URL.createObjectURL(new Blob(lines, { type: 'application/x-ndjson' }));
  const link = Object.assign(document.createElement('a'), { href: address, download: `${name}.ndjson` });
  link.click();
  URL.revokeObjectURL(address);
}
