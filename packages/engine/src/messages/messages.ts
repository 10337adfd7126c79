import type { MessageBody, PostBatch } from '@slowwave/contracts';
import { batchIdOf, messageIdOf, ownerBitsOf } from '../ids.ts';
import { maskSecrets, type SecretKind } from '../masking/secrets.ts';
import type { Appended, NewBatch, NewMessage, Pause } from '../ports/ledger/lanes.ts';
import type { SaidMessage } from '../ports/ledger/outbox.ts';
import type { Tools } from '../ports/tools.ts';
import { isDay, localIsoOf, millisOf, writtenOffset, zoneClock } from '../text/dates.ts';
import { canonical, cleanText, estimateTokens } from '../text/normalise.ts';
import {
  type BatchSettings,
  type Content,
  compareSaid,
  isWithheld,
  type JsonObject,
  type Message,
  type Millis,
  type NamedIds,
  ownerOf,
  type Scope,
  type SpeakersClock,
  type TenantId,
  TRUSTS,
  type Trust,
  type UtcOffset,
  type Withheld,
} from '../words.ts';

/** The text of a message, parts joined by line breaks; an image by its description, or by a sign that it was there. */
export const textOfContent = (content: Content, description: string | null = null): string => {
  if (typeof content === 'string') return content;
  if (isWithheld(content)) return '';
  const shown = description === null ? imagesOf(content).map(() => '[image]') : [`[image: ${description}]`];
  return [...textsOf(content), ...shown].join('\n');
};

/** What is written in a message, without a sign for its images. */
export const writtenIn = (content: Content): string =>
  typeof content === 'string' ? content : isWithheld(content) ? '' : textsOf(content).join('\n');

const textsOf = (parts: Exclude<Content, string | Withheld>): string[] =>
  parts.flatMap((part) => (part.type === 'text' ? [part.text] : []));

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

/** Clocks of callers and servers differ by so much without anybody having set one wrong. */
const CLOCK_SKEW_MS = 60_000;
/** What was said so shortly before it was accepted is said now: longer than anybody's batch waits to be sent. */
const JUST_SAID_MS = 600_000;

/** Where a message is accepted: its lane has seen `seenUntil` on a clock before. */
interface Acceptance {
  readonly acceptedAt: Millis;
  readonly seenUntil: Millis;
}

/** When a message counts as said, and what its speaker's clock showed where that is something else. */
interface SaidWhen {
  readonly at: Millis | null;
  readonly clock?: SpeakersClock;
}

/**
 * What a timestamp says. Nothing is said after it was accepted, whatever its timestamp claims, else it would outdate what is
 * said until then: it counts as said when it is accepted, and is shown as it was given.
 */
export function timeGiven(
  given: { readonly at: Millis | null; readonly offset: UtcOffset | null },
  acceptedAt: Millis,
): SaidWhen {
  const at = given.at !== null && given.at > acceptedAt ? null : given.at;
  if (at === given.at && given.offset === null) return { at };
  return { at, clock: { at: given.at ?? acceptedAt, offset: given.offset ?? 0 } };
}

/**
 * When a message counts as said that its ledger takes now. Nothing said now is older than what its lane has: a clock that
 * was set back changes the order of no words.
 */
export function saidWhen(message: SaidWhen, where: Acceptance): SaidWhen & { readonly at: Millis } {
  const { clock } = message;
  const shown = message.at ?? where.acceptedAt;
  const at = isSaidNow(message.at, where) ? Math.max(where.acceptedAt, where.seenUntil) : shown;
  if (clock !== undefined) return { at, clock };
  return at === shown ? { at } : { at, clock: { at: shown, offset: 0 } };
}

function isSaidNow(at: Millis | null, { acceptedAt, seenUntil }: Acceptance): boolean {
  if (at === null) return true;
  return seenUntil - acceptedAt > CLOCK_SKEW_MS && Math.abs(acceptedAt - at) < JUST_SAID_MS;
}

/** What a model is shown as the time of a message: the speaker's day, not that of Greenwich. */
export const clockText = ({ saidAt, clock }: Pick<Message, 'saidAt' | 'clock'>): string =>
  clock === undefined ? localIsoOf(saidAt.at, 0) : localIsoOf(clock.at, clock.offset);

/** Messages that claim to be said later than they were accepted, by more than clocks differ. */
export const fromTheFuture = ({ acceptedAt, messages }: Pick<NewBatch, 'acceptedAt' | 'messages'>): number =>
  messages.filter(({ clock }) => clock !== undefined && clock.at - acceptedAt > CLOCK_SKEW_MS).length;

/** The same of a message that was stored. */
export const isFromTheFuture = ({ saidAt, clock }: Pick<Message, 'saidAt' | 'clock'>): boolean =>
  clock !== undefined && clock.at - saidAt.at > CLOCK_SKEW_MS;

/** What is said by several messages is said by the last of them. */
export function lastSaid(messages: readonly Message[]): Message {
  const [first, ...others] = messages;
  if (first === undefined) throw new Error('what is said needs a message');
  return others.reduce((last, message) => (compareSaid(message.saidAt, last.saidAt) > 0 ? message : last), first);
}

/**
 * Since when something holds that a message says: the time it names, else when it was said. What is named by a day that has
 * come where the speaker is holds by then, also where it is still yesterday in UTC.
 */
export function beginOf(named: string | null, { saidAt, clock }: Pick<Message, 'saidAt' | 'clock'>): Millis {
  const { at, offset } = clock ?? { at: saidAt.at, offset: 0 };
  const said = Math.min(saidAt.at, at);
  const begin = named === null ? null : millisOf(named, offset);
  if (begin === null) return said;
  const hasCome = isDay(begin) && begin <= at + offset * MINUTE_MS;
  return hasCome ? Math.min(begin, said) : begin;
}

const MINUTE_MS = 60_000;

/** What a body need not say. */
type Usual = 'flush' | 'end_of_conversation' | 'priority';

export interface Posted {
  readonly tenant: TenantId;
  readonly body: Omit<PostBatch, Usual> & Partial<Pick<PostBatch, Usual>>;
  /** The idempotency key, wherever it stood. */
  readonly key: string | null;
  /** The API key it was posted with. */
  readonly keyId?: string | null;
  /** The tenant's, where the body names none. */
  readonly timezone: string | null;
  /** Whether the key it was posted with is for one app. */
  readonly ownAppOnly: boolean;
}

/** The ids of a scope in the API's words. */
export interface ScopeIds {
  readonly user_id?: string | undefined;
  readonly agent_id?: string | undefined;
  readonly run_id?: string | undefined;
  readonly app_id?: string | undefined;
}

export const scopeOf = (ids: ScopeIds): Scope => ({
  userId: ids.user_id ?? null,
  agentId: ids.agent_id ?? null,
  runId: ids.run_id ?? null,
  appId: ids.app_id ?? null,
});

/** The ids of a request for what was said under them. */
export const namedIdsIn = ({ agent_id, run_id, app_id }: Omit<ScopeIds, 'user_id'>): NamedIds => ({
  ...(agent_id !== undefined && { agentId: agent_id }),
  ...(run_id !== undefined && { runId: run_id }),
  ...(app_id !== undefined && { appId: app_id }),
});

/** A posted batch as the ledger takes it. */
export function draftBatch(tools: Tools, { tenant, body, key, keyId = null, timezone, ownAppOnly }: Posted): NewBatch {
  const acceptedAt = tools.now();
  const timeOf = timesOf({ body, timezone }, acceptedAt);
  const scope = scopeOf(body);
  const id = batchIdOf(tools.id('bat', ownerBitsOf(tools, { tenant, owner: ownerOf(scope) })));
  return {
    id,
    tenant,
    scope,
    settings: { ...settingsOf(body), ...(ownAppOnly && { ownAppOnly }) },
    metadata: (body.metadata ?? {}) as JsonObject,
    messages: body.messages.map((message, i) => newMessage(messageIdOf(id, i), message, timeOf(message))),
    tokens: body.messages.reduce((sum, { content }) => sum + estimateTokens(textOfContent(content)), 0),
    acceptedAt,
    flush: body.flush === true || body.end_of_conversation === true,
    priority: body.priority ?? 'live',
    idempotency: key === null ? null : { key, bodyHash: hashOf(tools, body) },
    ...(keyId !== null && { keyId }),
  };
}

const settingsOf = (body: Posted['body']): BatchSettings => ({
  mode: body.mode,
  instructions: body.instructions ?? null,
  includes: body.includes ?? null,
  excludes: body.excludes ?? null,
  expiresAt: momentOf(body.expires_at),
  ...(body.categories !== undefined && { categories: body.categories }),
  ...(body.graph !== undefined && { graph: body.graph }),
});

/** When a message was said, and what its speaker's clock showed then: by its own time, else by the zone. */
function timesOf(
  { body, timezone }: Pick<Posted, 'body' | 'timezone'>,
  acceptedAt: Millis,
): (message: MessageBody) => SaidWhen {
  const named = body.timezone ?? timezone;
  const zone = named === null ? null : zoneClock(named);
  return (message) => {
    const given = message.timestamp ?? body.timestamp;
    const at = momentOf(given);
    const written = given === undefined ? null : writtenOffset(given);
    return timeGiven({ at, offset: written ?? zone?.(at ?? acceptedAt) ?? null }, acceptedAt);
  };
}

const newMessage = (id: string, message: MessageBody, time: SaidWhen): NewMessage => ({
  id,
  clientId: message.id ?? null,
  role: message.role,
  content: message.content,
  name: message.name ?? null,
  ...(message.trust !== undefined && { trust: message.trust }),
  ...time,
});

const momentOf = (iso: string | undefined): Millis | null => (iso === undefined ? null : millisOf(iso));

/** Of everything but the key itself, which may come in the header one time and in the body another. */
function hashOf(tools: Tools, body: Posted['body']): string {
  const { idempotency_key: _key, priority, end_of_conversation, ...rest } = body;
  // The default means the same as none.
  const said = { ...(priority === 'backfill' && { priority }), ...(end_of_conversation && { end_of_conversation }) };
  return tools.hash(canonical({ ...rest, ...said }));
}

/** How many of them, and of those before each of them, still say all that was said. */
export const countSaying = (said: readonly SaidMessage[]): number =>
  said
    .flatMap(({ message, before }) => [message, ...(before === null ? [] : [before])])
    .filter(({ content, hidden }) => !isWithheld(content) && hidden === undefined).length;

/** Since when an owner wants nothing remembered; null: everything is. */
export function pausedAtOf(pauses: readonly Pause[]): Millis | null {
  const last = pauses.at(-1);
  return last?.until === null ? last.from : null;
}

/** More of them are a program's doing. The oldest become one, which withholds more rather than less. */
const PAUSES_MAX = 100;

/** The pauses after somebody paused, or went on. */
export function withPause(
  pauses: readonly Pause[],
  { paused, now }: { paused: boolean; now: Millis },
): readonly Pause[] {
  const from = pausedAtOf(pauses);
  if (paused === (from !== null)) return pauses;
  if (from !== null) return [...pauses.slice(0, -1), { from, until: Math.max(from, now) }];
  const [first, second, ...rest] = pauses;
  const isFull = pauses.length >= PAUSES_MAX && first !== undefined && second !== undefined;
  return [...(isFull ? [{ from: first.from, until: second.until }, ...rest] : pauses), { from: now, until: null }];
}

/** In place of what was said in a pause. */
const NOT_HEARD: Content = { withheld: 'paused' };

interface Heard {
  readonly batch: NewBatch;
  /** Whether anything of it was said in a pause. */
  readonly paused: Extract<Appended, { kind: 'stored' }>['paused'];
}

/**
 * A batch without what was said in a pause: all of it while one goes on, later what has a time in one. Its messages keep their
 * places and the ids of their senders, so that one that is sent again after the pause is known, and not taken for a new one.
 */
export function heard(batch: NewBatch, pauses: readonly Pause[]): Heard {
  if (pauses.length === 0) return { batch, paused: 'none' };
  const isPaused = pausedAtOf(pauses) !== null;
  const isIn = ({ at }: NewMessage): boolean =>
    isPaused || (at !== null && pauses.some(({ from, until }) => from <= at && (until === null || at < until)));
  const messages = batch.messages.map((message) =>
    isIn(message) ? { ...message, content: NOT_HEARD, name: null } : message,
  );
  const withheld = messages.filter(({ content }) => content === NOT_HEARD).length;
  if (withheld === 0) return { batch, paused: 'none' };
  if (withheld < messages.length) return { batch: { ...batch, messages }, paused: 'some' };
  return { batch: { ...batch, messages, metadata: {}, tokens: 0 }, paused: 'all' };
}

/** Whose word a message is. What a tool printed is anybody's, unless who posted it answers for the tool. */
export const trustOf = ({ role, trust }: Pick<Message, 'role' | 'trust'>): Trust => trust ?? BY_ROLE[role];

const BY_ROLE: Readonly<Record<Message['role'], Trust>> = {
  user: 'user',
  system: 'imported',
  assistant: 'agent',
  tool: 'external',
};

/** Of what a thing came from together: it is no surer than its least sure part. */
export const leastOf = (trusts: readonly Trust[]): Trust =>
  (trusts.length === 1 ? trusts[0] : byRank(trusts).at(-1)) ?? LEAST;

/** Of sayings that each stand for themselves: who is believed needs nobody else to say it. */
export const bestOf = (trusts: readonly Trust[]): Trust => byRank(trusts)[0] ?? LEAST;

const LEAST: Trust = 'external';

const byRank = (trusts: readonly Trust[]): readonly Trust[] => TRUSTS.filter((one) => trusts.includes(one));
