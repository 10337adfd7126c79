import { eventIdOf, ownerBitsOf } from '../ids.ts';
import {
  evolve,
  type Home,
  holdingMarks,
  idListsOf,
  inEffect,
  lastSaidAt,
  liveVersion,
  previousOf,
} from '../memories/evolve.ts';
import { EXPLICIT_SEQ } from '../memories/write.ts';
import type { Act, HeldOperation } from '../plan.ts';
import type { Night } from '../ports/ledger/nights.ts';
import type { TaskState } from '../ports/ledger/task-states.ts';
import type { Tools } from '../ports/tools.ts';
import { normaliseText } from '../text/normalise.ts';
import {
  type Certainty,
  type EventKind,
  type Mark,
  type Memory,
  type MemoryEvent,
  type MemoryVersion,
  type SaidAt,
  type Scope,
  saidBefore,
  TRUSTS,
  type Under,
  type VersionDetails,
} from '../words.ts';

type Said = Extract<Mark, { kind: 'said' }>;

/** An act with what it changes. */
export interface Draft {
  readonly act: Act;
  readonly events: readonly MemoryEvent[];
  readonly held: readonly HeldOperation[];
}

/** A memory that holds, with what it says. */
export interface Live {
  readonly memory: Memory;
  readonly version: MemoryVersion;
}

export const liveOf = (memory: Memory): Live[] => {
  const version = liveVersion(memory);
  return version === null ? [] : [{ memory, version }];
};

/** What a night works out its acts with. Memories are as the acts before leave them. */
export class Desk {
  readonly #memories: Map<string, Memory>;
  readonly #tools: Tools;
  readonly #night: Pick<Night, 'consolidationId' | keyof Home>;
  readonly drafts: Draft[] = [];

  constructor(tools: Tools, night: Pick<Night, 'consolidationId' | keyof Home>, memories: readonly Memory[]) {
    this.#tools = tools;
    this.#night = night;
    this.#memories = new Map(memories.map((memory) => [memory.id, memory]));
  }

  memory(id: string): Memory {
    const memory = this.#memories.get(id);
    if (memory === undefined) throw new Error(`memory ${id} does not belong to this night`);
    return memory;
  }

  /** Reads otherwise from a moment on. Nobody says it anew: whatever was said later still comes later. */
  reword(of: Live, { text, from, reason }: { text: string; from: number; reason: string }): void {
    const { memory, version } = of;
    const { skill: _, ...details } = version.details;
    const event = this.#event(memory, {
      ...{ kind: 'UPDATE', text, reason, saidAt: lastSaidAt(memory), validFrom: Math.max(from, version.validFrom) },
      details: { ...details, sourceIds: [] },
    });
    const act = { act: 'age', memoryId: memory.id, before: version.text, after: text, evidence: [], reason } as const;
    this.#add({ act: { ...act, decidedBy: 'rule', asks: false }, events: [event], held: [] });
  }

  fade(of: Live, reason: string): void {
    const { memory, version } = of;
    const event = this.#marking(of, { details: { ...version.details, faded: true }, reason });
    const { text } = version;
    const act = { act: 'fade', memoryId: memory.id, before: text, after: text, evidence: [], reason } as const;
    this.#add({ act: { ...act, decidedBy: 'rule', asks: false }, events: [event], held: [] });
  }

  /** A procedure went well often enough to be a skill, in the place of one for the same task where there is one. */
  prove(of: Live, { successes, instead, reason }: Proving): void {
    const { memory, version } = of;
    const events = [
      this.#marking(of, { details: { ...version.details, skill: { successes } }, reason }),
      ...(instead === null ? [] : [this.#marking(instead, { details: withoutSkill(instead), reason })]),
    ];
    const evidence = [of, ...(instead === null ? [] : [instead])].map(evidenceOf);
    const act = { act: 'skills', memoryId: memory.id, before: instead?.version.text ?? null } as const;
    this.#add({
      act: { ...act, after: version.text, evidence, reason, decidedBy: 'rule', asks: false },
      events,
      held: [],
    });
  }

  /** It stands in a slot of the profile. */
  place(of: Live, { slot, reason, decidedBy }: { slot: string; reason: string; decidedBy: Act['decidedBy'] }): void {
    const { memory, version } = of;
    const event = this.#marking(of, { details: { ...version.details, placed: { slot, by: 'night' } }, reason });
    const act = { act: 'profile', memoryId: memory.id, before: version.text, after: version.text, slot } as const;
    const evidence = [evidenceOf(of)];
    this.#add({ act: { ...act, evidence, reason, decidedBy, asks: false }, events: [event], held: [] });
  }

  /** It stays what it was before: the record of a procedure. */
  unprove(of: Live, reason: string): void {
    const act = { act: 'skills', memoryId: of.memory.id, before: of.version.text, after: null, evidence: [] } as const;
    const event = this.#marking(of, { details: withoutSkill(of), reason });
    this.#add({ act: { ...act, reason, decidedBy: 'rule', asks: false }, events: [event], held: [] });
  }

  /** One says all that the other does: it is confirmed by whatever said the other, when that was said, and the other ends. */
  merge(kept: Live, dropped: Live, reason: string): void {
    const memory = this.memory(kept.memory.id);
    const confirmed = sayingsOf(dropped.memory).reduce<{ memory: Memory; events: MemoryEvent[] }>(
      (so, { saidAt, validFrom, details, under }) => {
        const { faded: _, pinned: __, placed: ___, ...rest } = details;
        const event = this.#event(so.memory, {
          ...{ kind: 'NONE', text: kept.version.text, reason, saidAt, validFrom },
          details: { ...rest, immutable: kept.version.details.immutable },
          ...(under !== undefined && { under }),
          sourceIds: details.sourceIds,
        });
        return { memory: evolve(so.memory, so.memory, [event]), events: [...so.events, event] };
      },
      { memory, events: [] },
    );
    const ended = { ...this.#ending(dropped, lastSaidAt(dropped.memory), reason), merged: true as const };
    const act = { act: 'merge', memoryId: dropped.memory.id, before: dropped.version.text, after: null } as const;
    const evidence = [evidenceOf(kept)];
    this.#add({
      act: { ...act, evidence, reason, decidedBy: 'model', asks: false },
      events: [...confirmed.events, ended],
      held: [],
    });
  }

  /** What was said later holds: the other ended when that was said. */
  overrule(newer: Live, older: Live, reason: string): void {
    const act = { act: 'contradictions', memoryId: older.memory.id, before: older.version.text, after: null } as const;
    this.#add({
      act: { ...act, evidence: [evidenceOf(newer)], reason, decidedBy: 'model', asks: false },
      events: [this.#ending(older, newer.version.saidAt, reason)],
      held: [],
    });
  }

  /** Nobody said it, but all of these together. Said as late as the last of them, under the ids that all of them have. */
  conclude({ text, certainty, pieces, again, reason }: Concluding): void {
    const { tenant, lane, owner } = this.#night;
    const last = pieces.reduce((one, other) => (saidBefore(one.version.saidAt, other.version.saidAt) ? other : one));
    const { language, about } = last.version.details;
    const under = commonIds(pieces, this.#night.scope);
    const home = again ?? { tenant, lane, owner, scope: { ...this.#night.scope, appId: under.appId } };
    const from = pieces.map(({ memory, version }) => ({ memoryId: memory.id, version: version.number }));
    const { saidAt } = last.version;
    const said = { text, reason, saidAt, validFrom: saidAt.at, under };
    const of = { category: commonCategory(pieces), language, about, concluded: { certainty, from } };
    const event = this.#event(again ?? { ...home, id: this.#tools.id('mem', ownerBitsOf(this.#tools, home)) }, {
      ...{ ...said, kind: again === null ? 'ADD' : 'UPDATE' },
      details: {
        ...of,
        trust: 'inferred',
        quote: null,
        sourceIds: [],
        metadata: {},
        immutable: false,
        expiresAt: null,
      },
    });
    const act = { act: 'patterns', memoryId: event.memoryId, before: null, after: text, certainty } as const;
    const draft = { ...act, evidence: pieces.map(evidenceOf), reason, decidedBy: 'model', asks: false } as const;
    this.#memories.set(event.memoryId, evolve(home, again, [event]));
    this.drafts.push({ act: draft, events: [event], held: [] });
  }

  /** What a run came to, said when it ended and under its ids. What is remembered in the same words is confirmed. */
  remember({ runId, appId, version, endedAt, writtenAt }: TaskState, text: string): void {
    const { tenant, lane, owner, scope } = this.#night;
    const under = { agentId: scope.agentId, runId, appId };
    const known = this.#saying(text, appId);
    const home = known ?? { tenant, lane, owner, scope: { ...scope, runId, appId } };
    const at = endedAt ?? writtenAt;
    const reason = `run ${runId} ended with version ${version} of its state`;
    const event = this.#event(known ?? { ...home, id: this.#tools.id('mem', ownerBitsOf(this.#tools, home)) }, {
      ...{
        kind: known === null ? 'ADD' : 'NONE',
        text,
        reason,
        saidAt: { at, seq: EXPLICIT_SEQ },
        validFrom: at,
        under,
      },
      details: {
        ...{ category: null, language: null, about: 'user', trust: 'agent', task: { runId, version }, quote: null },
        ...{ sourceIds: [], metadata: {}, immutable: false, expiresAt: null },
      },
    });
    const act = { act: 'runs', memoryId: event.memoryId, before: event.previous, after: text, evidence: [] } as const;
    this.#memories.set(event.memoryId, evolve(home, known, [event]));
    this.drafts.push({ act: { ...act, reason, decidedBy: 'rule', asks: false }, events: [event], held: [] });
  }

  /** A memory that tells what a run of the app came to, in these words. */
  #saying(text: string, appId: string | null): Memory | null {
    const wanted = normaliseText(text);
    const found = [...this.#memories.values()].find((memory) => {
      const live = liveVersion(memory);
      const apps = idListsOf(memory).appId;
      const isOfApp = appId === null ? apps.length === 0 : apps.length === 1 && apps[0] === appId;
      return live?.details.task !== undefined && isOfApp && normaliseText(live.text) === wanted;
    });
    return found ?? null;
  }

  /** A person is asked whether it still holds, or is to be forgotten. */
  ask(act: Pick<Act, 'act' | 'reason' | 'decidedBy'>, of: Live, evidence: readonly Live[]): void {
    const { memory, version } = of;
    const held: HeldOperation = {
      ...{ id: this.#tools.id('rev', ownerBitsOf(this.#tools, memory)), kind: 'DELETE', fact: null, factText: null },
      ...{ memoryId: memory.id, before: version.text, after: null, reason: act.reason, decidedBy: act.decidedBy },
      ...{ saidAt: lastSaidAt(memory), validFrom: this.#tools.now(), details: null },
      sourceIds: evidence.flatMap((one) => one.version.details.sourceIds),
      ...(act.act === 'fade' && { forgets: true }),
    };
    const asked = { memoryId: memory.id, before: version.text, after: null, evidence: evidence.map(evidenceOf) };
    this.#add({ act: { ...act, ...asked, asks: true }, events: [], held: [held] });
  }

  /** It says what it said, and is marked otherwise. */
  #marking({ memory, version }: Live, { details, reason }: Pick<MemoryEvent, 'reason'> & { details: VersionDetails }) {
    const { text, validFrom } = version;
    const said = { kind: 'UPDATE', text, reason, saidAt: lastSaidAt(memory), validFrom } as const;
    return this.#event(memory, { ...said, details: { ...details, sourceIds: [] } });
  }

  #ending({ memory }: Live, saidAt: SaidAt, reason: string): MemoryEvent {
    const said = { kind: 'DELETE', text: null, details: null, reason, saidAt, validFrom: saidAt.at } as const;
    return this.#event(this.memory(memory.id), said);
  }

  #event(
    of: Memory | (Home & { readonly id: string }),
    said: Pick<MemoryEvent, 'kind' | 'text' | 'details' | 'saidAt' | 'validFrom' | 'reason'> & {
      kind: EventKind;
    } & Partial<Pick<MemoryEvent, 'under' | 'sourceIds'>>,
  ): MemoryEvent {
    const known = 'timeline' in of ? of : null;
    const revision = (known?.revision ?? 0) + 1;
    return {
      sourceIds: [],
      ...said,
      id: eventIdOf(of.id, revision),
      memoryId: of.id,
      revision,
      actor: 'sleep',
      consolidationId: this.#night.consolidationId,
      // Its act, by its place in the plan.
      factId: `n${this.drafts.length}`,
      previous: known === null ? null : previousOf(known, said.kind, said.saidAt),
      recordedAt: this.#tools.now(),
    };
  }

  #add(draft: Draft): void {
    for (const event of draft.events) {
      const before = this.memory(event.memoryId);
      this.#memories.set(event.memoryId, evolve(before, before, [event]));
    }
    this.drafts.push(draft);
  }
}

interface Concluding {
  readonly text: string;
  readonly certainty: Certainty;
  readonly pieces: readonly Live[];
  /** The memory that was concluded so before and has fallen. */
  readonly again: Memory | null;
  readonly reason: string;
}

interface Proving {
  readonly successes: number;
  readonly instead: Live | null;
  readonly reason: string;
}

function withoutSkill({ version }: Live): VersionDetails {
  const { skill: _, ...details } = version.details;
  return details;
}

/** The ids under which all of some memories were said; of the owner, its own. */
function commonIds(lives: readonly Live[], owner: Scope): Under {
  const all = lives.map(({ memory }) => idListsOf(memory));
  const common = (key: keyof Under): string | null =>
    owner[key] ?? all[0]?.[key].find((id) => all.every((ids) => ids[key].includes(id))) ?? null;
  return { agentId: common('agentId'), runId: common('runId'), appId: common('appId') };
}

function commonCategory(lives: readonly Live[]): string | null {
  const [first, ...others] = new Set(lives.map(({ version }) => version.details.category));
  return others.length === 0 ? (first ?? null) : null;
}

const evidenceOf = ({ memory, version }: Live): Act['evidence'][number] => ({
  memoryId: memory.id,
  text: version.text,
});

/** Of one memory: who says something a hundred times confirms it no better by the last ninety. */
const SAYINGS_MAX = 10;

/** What says that a memory holds, newest first. */
function sayingsOf(memory: Memory): readonly Said[] {
  const holding = new Set(holdingMarks(memory.timeline));
  const said = inEffect(memory.timeline).filter((mark) => mark.kind === 'said' && holding.has(mark.revision));
  return (said as readonly Said[]).toReversed().slice(0, SAYINGS_MAX);
}

/** Whether one version is at least as sure as another. */
export const isAsSure = (one: MemoryVersion, other: MemoryVersion): boolean =>
  TRUSTS.indexOf(one.details.trust) <= TRUSTS.indexOf(other.details.trust);
