import type { JsonObject } from '../../words.ts';

/**
 * An input on one line, as data: it parses back to exactly what it was, and holds nothing a server could take for the end
 * of it. Some servers cut a prompt into tokens after they have filled it in, and then a message that spells a special
 * token (<|im_start|>, [INST]) speaks in another role. Written as escapes these are letters like any others.
 */
export const asData = (input: JsonObject): string => JSON.stringify(input).replace(SIGNS, escapeOf);

/** Outside of its strings JSON has none of these. The latter two are line breaks to some readers, and none to JSON. */
const SIGNS =
  /<(?=[|｜<]|\/?[a-z][a-z_]{0,30}>)|\[(?=\/?(?:INST|SYS|SYSTEM(?:_PROMPT)?|AVAILABLE_TOOLS|TOOL_[A-Z]{4,10})\])|\u2028|\u2029/giu;

const escapeOf = (sign: string): string => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`;
