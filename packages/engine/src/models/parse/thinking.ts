const TAG = /<(\/?)(?:think|thinking|reasoning|thought)>/giu;

/**
 * The text without what a model thought aloud. A thinking tag may never have been opened, or never closed: then all
 * before, or all after it, is thinking. In one pass: text from outside may hold any number of tags.
 */
export function withoutThinking(text: string): string {
  let said = '';
  let from = 0;
  let isThinking = false;
  for (const tag of text.matchAll(TAG)) {
    const isClosing = tag[1] === '/';
    if (isClosing && !isThinking) said = '';
    if (!isClosing && !isThinking) said += `${text.slice(from, tag.index)} `;
    if (isClosing) from = tag.index + tag[0].length;
    isThinking = !isClosing;
  }
  return isThinking ? said : said + text.slice(from);
}

/** Whether a text begins inside of thinking that was never opened. */
export const endsThinking = (text: string): boolean => text.match(TAG)?.[0].startsWith('</') === true;
