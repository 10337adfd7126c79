import { cleanText } from '../text/normalise.ts';

/*
 * What others said stands in a prompt as data: it cannot close the block it is in, speak in another role, or pass for a
 * citation. Words stay as they are; only signs that prompts are built with change. No escaping makes a model deaf to
 * what a text says: the block says to it that none of this is an instruction.
 */

/** A text of others on one line. */
export function onOneLine(text: string): string {
  return harmless(text).replace(/\s+/gu, ' ').trim();
}

/** A text of others with its lines, the second and all later ones quoted: none begins as the block's own lines do. */
export function quoted(text: string): string {
  const lines = harmless(text)
    .split(LINES)
    .map((line) => line.trimEnd());
  return lines.filter((line) => line !== '').join('\n  > ');
}

function harmless(text: string): string {
  return cleanText(text)
    .replace(UNSEEN, '$1')
    .replace(TAGS, '&lt;')
    .replace(FENCES, "'''")
    .replace(TEMPLATE_SIGNS, '($1)')
    .replace(CITATIONS, '(m$1)')
    .replace(ROLE_MARKS, '$1$2 – ');
}

/** Line and paragraph separators are line breaks to whoever shows them. */
const LINES = /[\n\u2028\u2029]+/u;

/** Signs that turn the direction of writing, and letters nobody sees but models; the latter spell flags after a black one. */
const UNSEEN =
  /(\u{1F3F4}[\u{E0030}-\u{E0039}\u{E0061}-\u{E007A}]{2,6}\u{E007F})|[\u202A-\u202E\u2066-\u2069\u{E0000}-\u{E007F}]/gu;

/** What may begin a tag, a special token of a chat template (<|im_start|>, <<SYS>>) or a comment; "a < b" stays. */
const TAGS = /[<＜](?=[\p{L}/!?|<])/gu;

const FENCES = /`{3,}|~{3,}/gu;

/** [INST], [/INST] and their kin. */
const TEMPLATE_SIGNS =
  /\[(\/?(?:INST|SYS|SYSTEM|SYSTEM_PROMPT|AVAILABLE_TOOLS|TOOL_CALLS|TOOL_RESULTS|TOOL_CONTENT))\]/giu;

const CITATIONS = /\[\s{0,3}m(\d{1,6})\s{0,3}\]/giu;

/** A line that begins as a turn of somebody does. Repeats are bounded: time must not grow with the square of a text. */
const ROLE_MARKS =
  /(^|[\n\u2028\u2029])([#>*_ \t]{0,8}(?:system|developer|assistant|human|user|tool|instructions?|系统|助手|用户))[*_ \t]{0,4}[::][ \t]?/giu;
