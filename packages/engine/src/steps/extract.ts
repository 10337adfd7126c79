import type { EngineDeps } from '../deps.ts';
import { factsIn, type RawFact } from '../parse/facts.ts';
import type { Cancellation } from '../ports/tools.ts';
import { EXTRACT, type ExtractInput } from '../prompts/extract.ts';
import { admit } from '../rules/admit.ts';
import { isWorthReading, textOfContent } from '../rules/messages.ts';
import { isoOf } from '../text/iso.ts';
import { cleanText } from '../text/normalise.ts';
import type { BatchSettings, JsonObject, Message } from '../words.ts';
import { ask } from './ask.ts';
import type { Extracted, GatheredTurn } from './values.ts';

/** Finds the facts in the new messages: one model call, or none where messages are stored as they are. */
export async function extract(deps: EngineDeps, gathered: GatheredTurn, cancel: Cancellation): Promise<Extracted> {
  const fresh = gathered.messages.filter((message) => !message.resent && isWorthReading(message));
  if (!gathered.turn.settings.infer) return admitted(gathered, verbatim(fresh));
  if (fresh.length === 0) return { ...gathered, facts: [], discards: [], prompts: [] };
  const shortIds = new Map(fresh.map((message, i) => [`m${i}`, message]));
  const raw = await ask(
    { deps, turn: gathered.turn, cancel },
    { step: 'extract', prompt: EXTRACT, ask: 'Find the facts.', input: inputOf(gathered, shortIds), shape: factsIn },
  );
  const prompt = { name: EXTRACT.name, version: EXTRACT.version, hash: deps.tools.hash(EXTRACT.system) };
  return { ...admitted(gathered, { raw, shortIds }), prompts: [prompt] };
}

interface Found {
  readonly raw: readonly RawFact[];
  readonly shortIds: ReadonlyMap<string, Message>;
}

function admitted(gathered: GatheredTurn, found: Found): Extracted {
  const { facts, discards } = admit(found.raw, found.shortIds, gathered.turn.settings.infer);
  return { ...gathered, facts, discards, prompts: [] };
}

/** Each message as a fact of its own, word for word. */
function verbatim(messages: readonly Message[]): Found {
  const spoken = messages.filter((message) => message.role !== 'system');
  const shortIds = new Map(spoken.map((message, i) => [`m${i}`, message]));
  const raw = [...shortIds].map(([id, message]) => ({
    text: cleanText(textOfContent(message.content)).trim(),
    sourceIds: [id],
    quote: null,
    category: null,
    language: null,
    validFrom: null,
    about: message.role === 'assistant' ? 'agent' : 'user',
  }));
  return { raw, shortIds };
}

function inputOf(gathered: GatheredTurn, shortIds: ReadonlyMap<string, Message>): JsonObject {
  const { settings, claimedAt } = gathered.turn;
  const input: ExtractInput = {
    context: {
      summary: gathered.summary,
      recent: [...gathered.recent, ...gathered.messages.filter((message) => message.resent)].map((message) => ({
        role: message.role,
        content: textOfContent(message.content),
      })),
      now: isoOf(newestMoment([...shortIds.values()]) ?? claimedAt),
      instructions: instructionsOf(settings),
    },
    messages: [...shortIds].map(([id, message]) => ({
      id,
      role: message.role,
      content: cleanText(textOfContent(message.content)),
      timestamp: isoOf(message.saidAt.at),
      name: message.name,
    })),
  };
  return input as unknown as JsonObject;
}

/** The conversation's own "now": a retry, or a replay a year later, asks the same question again. */
function newestMoment(messages: readonly Message[]): number | null {
  return messages.length === 0 ? null : Math.max(...messages.map((message) => message.saidAt.at));
}

function instructionsOf({ instructions, includes, excludes }: BatchSettings): string | null {
  const lines = [
    instructions,
    includes === null ? null : `Remember only: ${includes}`,
    excludes === null ? null : `Never remember: ${excludes}`,
  ].filter((line) => line !== null);
  return lines.length === 0 ? null : lines.join('\n');
}
