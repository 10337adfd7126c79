import { readChatgpt, readClaude } from './chats.ts';
import type { Reader } from './found.ts';
import { readHindsight } from './hindsight.ts';
import { readLangmem } from './langmem.ts';
import { readLetta } from './letta.ts';
import { readZep } from './zep.ts';

/** What can be imported, by the name of the system that wrote it; mem0 has a reader of its own. */
export const READERS = {
  zep: readZep,
  graphiti: readZep,
  letta: readLetta,
  langmem: readLangmem,
  hindsight: readHindsight,
  chatgpt: readChatgpt,
  claude: readClaude,
} as const satisfies Readonly<Record<string, Reader>>;

export type Origin = keyof typeof READERS | 'mem0';

export const ORIGINS = ['mem0', ...(Object.keys(READERS) as (keyof typeof READERS)[])] as const;
