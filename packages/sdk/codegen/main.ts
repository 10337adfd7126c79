import { writeFile } from 'node:fs/promises';
import { ownDescription } from './description.ts';
import { generated } from './generated.ts';

const description = await ownDescription();
for (const { file, text } of generated) {
  await writeFile(file, await text(description));
  process.stdout.write(`wrote ${file.pathname}\n`);
}
