import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';

/** Files of a hundred megabytes are read in pieces between which others have their turn. */
const PIECE_BYTES = 1024 * 1024;

export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const piece of createReadStream(path, { highWaterMark: PIECE_BYTES })) hash.update(piece);
  return hash.digest('hex');
}
