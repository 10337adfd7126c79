import type {
  FiguresOfModel,
  MeasuredCall,
  MeasuredStep,
  MeasuredTurn,
  Meter,
  Millis,
  OpinionGiven,
  OpinionKind,
  TenantId,
} from '@slowwave/engine';

/** What a recording meter recorded, in order. */
export interface Recorded {
  readonly steps: MeasuredStep[];
  readonly calls: (MeasuredCall & { readonly consolidationId: string | null })[];
  readonly turns: MeasuredTurn[];
  readonly facts: string[];
  readonly attacks: string[];
  readonly figures: (FiguresOfModel & { readonly tenant: TenantId })[];
  readonly opinions: (readonly [OpinionKind, OpinionGiven])[];
  readonly searchable: Millis[];
}

export function recordingMeter(): Meter & { readonly recorded: Recorded } {
  const recorded: Recorded = {
    steps: [],
    calls: [],
    turns: [],
    facts: [],
    attacks: [],
    figures: [],
    opinions: [],
    searchable: [],
  };
  return {
    recorded,
    step: (_turn, step) => void recorded.steps.push(step),
    call: (turn, call) => void recorded.calls.push({ ...call, consolidationId: turn?.consolidationId ?? null }),
    turn: (_turn, end) => void recorded.turns.push(end),
    facts: (outcomes) => void recorded.facts.push(...outcomes.map(({ outcome }) => outcome)),
    attacks: (kinds) => void recorded.attacks.push(...kinds),
    figures: (tenant, measured) => void recorded.figures.push({ tenant, ...measured }),
    opinions: (_tenant, kind, given) => void recorded.opinions.push(...given.map((one) => [kind, one] as const)),
    searchable: (waited) => void recorded.searchable.push(...waited),
  };
}
