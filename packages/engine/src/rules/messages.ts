import type { Content, Message } from '../words.ts';

/** The text of a message, parts joined by line breaks. */
export const textOfContent = (content: Content): string =>
  typeof content === 'string'
    ? content
    : content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');

/** Empty messages make models invent. */
export const isWorthReading = (message: Message): boolean => textOfContent(message.content).trim() !== '';
