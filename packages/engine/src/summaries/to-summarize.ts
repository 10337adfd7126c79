import { maskSecrets } from '../masking/secrets.ts';
import { isWorthReading, textOfContent } from '../messages/messages.ts';
import { clockText } from '../messages/said-when.ts';
import type { SummarizeInput } from '../models/prompts/summarize.ts';
import { cleanText } from '../text/normalise.ts';
import { estimateTokens, shorten } from '../text/tokens.ts';
import type { Message } from '../words.ts';

/** Of one message: a paragraph or three. Who sends more sends a document, whose beginning says what it is. */
const MESSAGE_TOKENS_MAX = 300;
/** Of all of them together: twenty long messages, and still a cheap call. */
const MESSAGES_TOKENS_MAX = 6_000;

type Shown = SummarizeInput['messages'][number];

/** What a summary call reads of the messages: the newest ones there is room for, each cut where it is huge. */
export function toSummarize(messages: readonly Message[]): readonly Shown[] {
  let room = MESSAGES_TOKENS_MAX;
  const shown: Shown[] = [];
  for (const message of messages.filter(isTold).reverse()) {
    const said = cleanText(textOfContent(message.content)).trim();
    // Masked before it is cut: half a secret is not recognised.
    const content = shorten(maskSecrets(said).text, MESSAGE_TOKENS_MAX);
    room -= estimateTokens(content);
    if (room < 0) break;
    shown.push({ role: message.role, content, timestamp: clockText(message) });
  }
  return shown.reverse();
}

/** System messages are the product's words, not the conversation's. */
const isTold = (message: Message): boolean => message.role !== 'system' && isWorthReading(message);
