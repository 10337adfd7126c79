import { writeFile } from 'node:fs/promises';
import { generated, ownDescription } from './generated.ts';

const description = await ownDescription();
for (const { file, text } of generated) {
  await writeFile(file, await text(description));
  process.stdout.write(`wrote ${file.pathname}\n`);
}
