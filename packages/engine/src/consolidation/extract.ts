import type { EngineDeps } from '../deps.ts';
import { maskOf } from '../masking/secrets.ts';
import type { Spoken } from '../messages/reading.ts';
import type { Discard } from '../plan.ts';
import type { Cancellation } from '../ports/tools.ts';
import { type Admitted, admit } from './extract/admit.ts';
import { hear } from './extract/hear.ts';
import { infer } from './extract/infer.ts';
import { idleReason, secretReason } from './extract/junk.ts';
import { procedure } from './extract/procedure.ts';
import type { Extracted, GatheredTurn } from './values.ts';

/** Makes facts of the new messages, the way their batch asks for. */
export async function extract(deps: EngineDeps, gathered: GatheredTurn, cancel: Cancellation): Promise<Extracted> {
  const heard = await hear(deps, gathered, cancel);
  const found = await findFacts(deps, { gathered, spoken: heard.spoken }, cancel);
  const discards = [...heard.discards, ...found.discards];
  return {
    ...gathered,
    facts: found.facts,
    discards: [...discards, ...uncounted(heard.spoken, discards)],
    prompts: [...heard.prompts, ...found.prompts],
  };
}

type FoundFacts = Pick<Extracted, 'facts' | 'discards' | 'prompts'>;

async function findFacts(
  deps: EngineDeps,
  what: { readonly gathered: GatheredTurn; readonly spoken: readonly Spoken[] },
  cancel: Cancellation,
): Promise<FoundFacts> {
  const { settings, scope } = what.gathered.turn;
  if (settings.mode === 'procedural') return procedure(deps, what, cancel);
  if (settings.mode === 'verbatim') return { ...verbatim(what.spoken), prompts: [] };
  const idle = idleDiscards(what.spoken, { agent: scope.agentId !== null });
  return idle === null ? infer(deps, what, cancel) : { facts: [], discards: idle, prompts: [] };
}

/** A window of which nothing can come is not asked about; null: something may. */
function idleDiscards(spoken: readonly Spoken[], whose: { readonly agent: boolean }): Discard[] | null {
  const discards: Discard[] = [];
  for (const one of spoken) {
    const reason = idleReason(one, whose);
    if (reason === null) return null;
    discards.push({ text: one.text.slice(0, SHOWN_MAX), reason });
  }
  return discards;
}

/** Enough to recognise a message by. */
const SHOWN_MAX = 200;

/** Every secret that was said is counted once: here, unless a fact was put aside for it already. */
function uncounted(spoken: readonly Spoken[], counted: readonly Discard[]): Discard[] {
  const left = counted.map(({ reason }) => reason);
  return spoken
    .flatMap(({ secrets }) => secrets)
    .flatMap((kind) => {
      const at = left.indexOf(secretReason(kind));
      if (at === -1) return [{ text: maskOf(kind), reason: secretReason(kind) }];
      left.splice(at, 1);
      return [];
    });
}

/** Each message as a fact of its own, word for word but for its secrets. */
function verbatim(spoken: readonly Spoken[]): Admitted {
  const said = spoken.filter(({ message }) => message.role !== 'system');
  const shown = new Map(said.map((one, i) => [`m${i}`, one]));
  const raw = [...shown].map(([id, { message, text }]) => ({
    text,
    sourceIds: [id],
    quote: null,
    category: null,
    language: null,
    validFrom: null,
    about: message.role === 'assistant' ? 'agent' : 'user',
  }));
  return admit([{ raw, shown }], { inferred: false, agent: true, categories: [] });
}
