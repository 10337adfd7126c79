import { createHash } from 'node:crypto';
import type { RecordedCall } from '../model-server/endpoints.ts';
import { type Fault, spoiled } from '../model-server/faults.ts';
import type { EmbeddingCall, Raw, Reply, ScriptedCall } from '../model-server/script.ts';
import { type ModelServer, startModelServer } from '../model-server/server.ts';
import { answerOf } from './model.ts';
import type { Random } from './random.ts';

/** The model's side: one server per process, so that each call tells who asked. */
export interface Provider {
  /** Where a process finds its model. */
  baseUrlOf(member: string): string;
  /** From now on most calls fail in this way; null: none. */
  storm(fault: Fault | null): void;
  /** Does something when a process makes a call; resolves with whether that came within the time. */
  atCall(border: Border): Promise<boolean>;
  /** Every call that was answered as it should be. */
  answered(): readonly AnsweredCall[];
  close(): Promise<void>;
}

/** A place between two steps of a consolidation that can be seen from outside. */
interface Border {
  readonly members: readonly string[];
  /** The call's name; embed for the embedder. */
  readonly call: string;
  /** Before the answer, or so long after it. */
  readonly when: 'before' | { readonly afterMs: number };
  readonly withinMs: number;
  reach(member: string): void;
}

export interface AnsweredCall {
  readonly member: string;
  readonly name: string;
  /** Of the whole question. */
  readonly hash: string;
  readonly askedAt: number;
  /** When the answer was out; null when the connection ended before. */
  readonly answeredAt: number | null;
}

/** The share of calls that a storm hits. */
const STORM_SHARE = 0.9;
const DIMENSIONS = 64; // enough to tell a few texts apart

interface State {
  readonly random: Random;
  readonly answered: { member: string; call: RecordedCall }[];
  readonly armed: Set<Armed>;
  storm: Fault | null;
}

interface Armed extends Border {
  readonly done: (reached: boolean) => void;
}

export async function startProvider(members: readonly string[], random: Random): Promise<Provider> {
  const state: State = { random, answered: [], armed: new Set(), storm: null };
  const servers = new Map<string, ModelServer>();
  for (const member of members) servers.set(member, await startFor(state, member));
  return {
    baseUrlOf: (member) => servers.get(member)?.baseUrl ?? '',
    storm: (fault) => {
      state.storm = fault;
    },
    atCall: (border) => arm(state, border),
    answered: () => state.answered.map(({ member, call }) => answeredCall(member, call)),
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

async function startFor(state: State, member: string): Promise<ModelServer> {
  const server = await startModelServer({
    dimensions: DIMENSIONS,
    script: (call) => answerChat(state, { member, call, recorded: server.calls.at(-1) }),
    embeddingScript: (call) => answerEmbedding(state, member, call),
  });
  return server;
}

interface Asked {
  readonly member: string;
  readonly call: ScriptedCall;
  readonly recorded: RecordedCall | undefined;
}

function answerChat(state: State, { member, call, recorded }: Asked): Reply {
  if (reached(state, member, call.name) === 'before') return { drop: true };
  const reply = answerOf(call);
  if (!('json' in reply)) return reply;
  if (state.storm !== null && state.random.chance(STORM_SHARE)) return spoiled(state.storm, JSON.stringify(reply.json));
  if (recorded !== undefined) state.answered.push({ member, call: recorded });
  return reply;
}

/** Faults of the answer's text have no meaning for vectors. */
const OF_EMBEDDINGS: readonly Fault[] = ['rate_limited', 'server_error', 'timeout', 'dropped', 'cut_off'];

function answerEmbedding(state: State, member: string, _call: EmbeddingCall): Raw | null {
  if (reached(state, member, 'embed') === 'before') return { drop: true };
  const { storm } = state;
  if (storm === null || !OF_EMBEDDINGS.includes(storm) || !state.random.chance(STORM_SHARE)) return null;
  return spoiled(storm, '') as Raw;
}

/** Whether somebody waited for this call, and what for. */
function reached(state: State, member: string, name: string): 'before' | 'after' | null {
  const border = [...state.armed].find((one) => one.call === name && one.members.includes(member));
  if (border === undefined) return null;
  state.armed.delete(border);
  const act = (): void => {
    border.reach(member);
    border.done(true);
  };
  if (border.when === 'before') {
    act();
    return 'before';
  }
  setTimeout(act, border.when.afterMs);
  return 'after';
}

function arm(state: State, border: Border): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const armed: Armed = { ...border, done: resolve };
  state.armed.add(armed);
  setTimeout(() => {
    if (state.armed.delete(armed)) resolve(false);
  }, border.withinMs).unref();
  return promise;
}

function answeredCall(member: string, call: RecordedCall): AnsweredCall {
  return {
    member,
    name: call.name,
    hash: createHash('sha256').update(JSON.stringify(call.request)).digest('hex'),
    askedAt: call.at,
    answeredAt: call.aborted ? null : call.endedAt,
  };
}
