import { maskSecrets, type SecretKind } from '../masking/secrets.ts';
import { cleanText } from '../text/normalise.ts';
import { type Content, isWithheld, type Message } from '../words.ts';

/** The text of a message, parts joined by line breaks; an image by its description, or by a sign that it was there. */
export const textOfContent = (content: Content, description: string | null = null): string => {
  if (typeof content === 'string') return content;
  if (isWithheld(content)) return '';
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const shown = description === null ? imagesOf(content).map(() => '[image]') : [`[image: ${description}]`];
  return [...texts, ...shown].join('\n');
};

/** The addresses of the images in a message. */
export const imagesOf = (content: Content): readonly string[] =>
  typeof content === 'string' || isWithheld(content)
    ? []
    : content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));

/** Empty messages make models invent. */
export const isWorthReading = ({ content }: Pick<Message, 'content'>): boolean => textOfContent(content).trim() !== '';

/** A message as it is read: images described, secrets masked, nothing unprintable. */
export interface Spoken {
  readonly message: Message;
  readonly text: string;
  /** The secrets that were masked in it. */
  readonly secrets: readonly SecretKind[];
}

export function spokenOf(message: Message, description: string | null = null): Spoken {
  const { text, kinds } = maskSecrets(cleanText(textOfContent(message.content, description)).trim());
  return { message, text, secrets: kinds };
}
