import { maskSecrets } from '../../masking/secrets.ts';
import { type Spoken, spokenOf } from '../../messages/reading.ts';
import { clockText, lastSaid } from '../../messages/said-when.ts';
import type { ExtractInput } from '../../models/prompts/extract.ts';
import type { TenantSettings } from '../../settings.ts';
import { isoOf } from '../../text/dates.ts';
import { cleanText } from '../../text/normalise.ts';
import { estimateTokens, shorten } from '../../text/tokens.ts';
import type { BatchSettings, Message } from '../../words.ts';
import type { GatheredTurn } from '../values.ts';

/** Of one known message: what it was about. */
const KNOWN_MESSAGE_TOKENS_MAX = 400;
/** Of all known messages: extracts of a lane do not grow with its age, nor with what its callers send again. */
const KNOWN_TOKENS_MAX = 2_000;

type Context = ExtractInput['context'];

/** What a call is told beside the new messages. The first part reads what was said before the window, others the part before. */
export function contextOf(
  gathered: GatheredTurn,
  { spoken, before, count }: { spoken: readonly Spoken[]; before: readonly Spoken[]; count: number },
): Context {
  const { turn, rules } = gathered;
  const known = before.length > 0 ? before : lastOf(knownMessages(gathered), count).map((message) => spokenOf(message));
  return {
    summary: gathered.summary === null ? null : maskSecrets(gathered.summary).text,
    recent: shown(known),
    // The conversation's own "now": a retry, or a replay a year later, asks the same question again.
    now: spoken.length === 0 ? isoOf(turn.claimedAt) : clockText(lastSaid(spoken.map(({ message }) => message))),
    instructions: instructionsOf(rules, turn.settings),
    ...(rules.categories === null ? {} : { categories: rules.categories }),
  };
}

/** The messages before the window, then those of it that came before under the same client id: each once. */
function knownMessages({ recent, messages }: GatheredTurn): readonly Message[] {
  const resent = messages.filter((message) => message.resent);
  const again = new Set(resent.map(({ clientId }) => clientId));
  return [...recent.filter(({ clientId }) => clientId === null || !again.has(clientId)), ...resent];
}

const lastOf = <T>(items: readonly T[], count: number): readonly T[] => items.slice(Math.max(0, items.length - count));

/** As many of the last ones as there is room for, oldest first. */
function shown(known: readonly Spoken[]): Context['recent'] {
  let room = KNOWN_TOKENS_MAX;
  const last: { role: string; content: string }[] = [];
  for (const { message, text } of known.toReversed()) {
    const content = shorten(text, KNOWN_MESSAGE_TOKENS_MAX);
    room -= estimateTokens(content);
    if (room < 0) break;
    if (content !== '') last.unshift({ role: message.role, content });
  }
  return last;
}

/** What a batch asks for comes on top of what its tenant does. */
function instructionsOf(tenant: TenantSettings, batch: BatchSettings): string | null {
  const both = (key: 'instructions' | 'includes' | 'excludes', separator: string): string | null =>
    [tenant[key], batch[key]].filter((text) => text !== null).join(separator) || null;
  const [instructions, includes, excludes] = [
    both('instructions', '\n'),
    both('includes', '; '),
    both('excludes', '; '),
  ];
  const lines = [
    instructions,
    includes === null ? null : `Remember only: ${includes}`,
    excludes === null ? null : `Never remember: ${excludes}`,
  ].filter((line) => line !== null);
  return lines.length === 0 ? null : cleanText(lines.join('\n'));
}
