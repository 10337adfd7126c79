import { writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { ownDescription } from './description.ts';
import { typesOf } from './types-of.ts';

const file = fileURLToPath(new URL('../src/api.ts', import.meta.url));
await writeFile(file, typesOf(await ownDescription()));
process.stdout.write(`wrote ${file}\n`);
