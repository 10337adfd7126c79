import { createHash } from 'node:crypto';
import type { JsonObject } from '@slowwave/engine';
import {
  type EmbeddingCall,
  type Fault,
  type ModelServer,
  type Raw,
  type RecordedCall,
  type Reply,
  type ScriptedCall,
  spoiled,
  startModelServer,
} from '@slowwave/testkit';
import { answerOf, factsOf, REFUSED, UNEMBEDDABLE } from './model.ts';
import type { Oddity } from './oddities.ts';
import type { Random } from './random.ts';

/** The model's side: one server per process, so that each call shows who asked. */
export interface Provider {
  /** Where a process finds its model. */
  baseUrlOf(member: string): string;
  /** From now on most calls fail in this way; null: none. */
  storm(fault: Fault | null): void;
  /** Does something when a process makes a call; resolves with whether that came within the time. */
  atCall(border: Border): Promise<boolean>;
  /** From now on what this user says is read in a form that no model should give. */
  answerOddly(user: string, oddity: Oddity): void;
  /** Every call, in the order in which they came. */
  asked(): readonly AskedCall[];
  /** What chat models were shown from a moment on, in which all of these words are. */
  shown(words: readonly string[], from: number): readonly string[];
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

export interface AskedCall {
  /** Among all calls. A sound answer is said to have as many tokens, so that whoever kept it shows which one it was. */
  readonly number: number;
  readonly member: string;
  /** embed for the embedder. */
  readonly name: string;
  /** Of the whole question. */
  readonly hash: string;
  /** What is asked about: messages or facts. */
  readonly texts: readonly string[];
  readonly askedAt: number;
  /** When its sound answer was out; null when it got none, or nobody read it any more: who asks does not wait for ever. */
  readonly answeredAt: number | null;
}

/** The share of calls that a storm hits. */
const STORM_SHARE = 0.9;
/** Failures that are answers, of no use: with the fourth of one question its batch waits for a person. */
const USELESS: readonly Fault[] = ['malformed', 'truncated'];
const USELESS_MAX = 3;
const DIMENSIONS = 64; // enough to distinguish a few texts

interface State {
  readonly random: Random;
  readonly asked: Noted[];
  readonly armed: Set<Armed>;
  /** By the user who is read oddly. */
  readonly odd: Map<string, Oddity>;
  /** How many useless answers each question got. */
  readonly useless: Map<string, number>;
  storm: Fault | null;
}

interface Noted extends Omit<AskedCall, 'answeredAt'> {
  /** null: an embedding, which is not looked at further. */
  readonly recorded: RecordedCall | null;
  sound: boolean;
}

interface Armed extends Border {
  readonly done: (reached: boolean) => void;
}

export async function startProvider(members: readonly string[], random: Random): Promise<Provider> {
  const state: State = { random, asked: [], armed: new Set(), odd: new Map(), useless: new Map(), storm: null };
  const servers = new Map<string, ModelServer>();
  for (const member of members) servers.set(member, await startFor(state, member));
  return {
    baseUrlOf: (member) => servers.get(member)?.baseUrl ?? '',
    storm: (fault) => {
      state.storm = fault;
    },
    atCall: (border) => arm(state, border),
    answerOddly: (user, oddity) => void state.odd.set(user, oddity),
    shown: (words, from) =>
      state.asked
        .filter(({ askedAt }) => askedAt >= from)
        .map(({ recorded }) => JSON.stringify(recorded?.request ?? null))
        .filter((prompt) => words.every((word) => prompt.includes(word))),
    asked: () => state.asked.map(askedCall),
    close: async () => {
      await Promise.all([...servers.values()].map((server) => server.close()));
    },
  };
}

async function startFor(state: State, member: string): Promise<ModelServer> {
  const server = await startModelServer({
    dimensions: DIMENSIONS,
    script: (call) => answerChat(state, { member, call, recorded: server.calls.at(-1) ?? null }),
    embeddingScript: (call) => answerEmbedding(state, member, call),
  });
  return server;
}

interface Asked {
  readonly member: string;
  readonly call: ScriptedCall;
  readonly recorded: RecordedCall | null;
}

function answerChat(state: State, { member, call, recorded }: Asked): Reply {
  const { name, request } = call;
  const about = { ...numbered(state), member, name, hash: hashOf(request), texts: textsOf(call) };
  const entry: Noted = { ...about, askedAt: Date.now(), recorded, sound: false };
  state.asked.push(entry);
  if (reached(state, member, call.name) === 'before') return { drop: true };
  const reply = oddly(state, call) ?? answerOf(call);
  if (!('json' in reply)) return reply;
  const { storm } = state;
  if (storm !== null && state.random.chance(STORM_SHARE) && isBorne(state, storm, call))
    return spoiled(storm, JSON.stringify(reply.json));
  entry.sound = true;
  return { ...reply, tokens: entry.number };
}

/** Whether this call may fail so: with useless answers a question has to get through in the end. */
function isBorne({ useless }: State, storm: Fault, { name, input }: ScriptedCall): boolean {
  if (!USELESS.includes(storm)) return true;
  const repaired = name === 'repair_output' ? input : null;
  const question = JSON.stringify([
    repaired?.call ?? name,
    textsOf({ input: (repaired?.input as JsonObject) ?? input }),
  ]);
  const times = 1 + (useless.get(question) ?? 0);
  useless.set(question, times);
  return times <= USELESS_MAX;
}

const numbered = ({ asked }: State): Pick<AskedCall, 'number'> => ({ number: asked.length + 1 });

/** The answer to an extraction, or its repair, of what a user says who is read oddly; null for all others. */
function oddly({ odd }: State, { name, input }: ScriptedCall): Reply | null {
  const asked = name === 'repair_output' && input?.call === 'extract_facts' ? (input.input as JsonObject) : input;
  if (asked === null || (name !== 'extract_facts' && asked === input)) return null;
  const said = JSON.stringify(asked.messages ?? null);
  const oddity = [...odd].find(([user]) => said.includes(` of ${user} is `))?.[1];
  return oddity?.answer(factsOf(asked)) ?? null;
}

/** Faults of the answer's text have no meaning for vectors. */
const OF_EMBEDDINGS: readonly Fault[] = ['rate_limited', 'server_error', 'timeout', 'dropped', 'cut_off'];

function answerEmbedding(state: State, member: string, { texts, request }: EmbeddingCall): Raw | null {
  const noted = {
    ...numbered(state),
    member,
    name: 'embed',
    hash: hashOf(request),
    texts,
    askedAt: Date.now(),
    recorded: null,
  };
  state.asked.push({ ...noted, sound: false });
  if (texts.some((text) => text.includes(UNEMBEDDABLE))) return REFUSED;
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

function askedCall({ recorded, sound, ...call }: Noted): AskedCall {
  const isOut = sound && recorded !== null && !recorded.aborted;
  return { ...call, answeredAt: isOut ? recorded.endedAt : null };
}

const hashOf = (request: unknown): string => createHash('sha256').update(JSON.stringify(request)).digest('hex');

/** The new messages of an extraction, or the facts of a decision. */
function textsOf({ input }: Pick<ScriptedCall, 'input'>): string[] {
  const { messages = [], facts = [] } = (input ?? {}) as { messages?: Said[]; facts?: Said[] };
  return [...messages, ...facts].map(({ content, text }) => content ?? text ?? '');
}

interface Said {
  readonly content?: string;
  readonly text?: string;
}
