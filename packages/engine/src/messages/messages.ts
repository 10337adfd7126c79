import type { MessageBody, PostBatch } from '@slowwave/contracts';
import { batchIdOf, messageIdOf, ownerBitsOf } from '../ids.ts';
import { maskSecrets, type SecretKind } from '../masking/secrets.ts';
import type { Appended, NewBatch, NewMessage, Pause } from '../ports/ledger/lanes.ts';
import type { SaidMessage } from '../ports/ledger/outbox.ts';
import type { Sliced, Tools } from '../ports/tools.ts';
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

/**
 * What texts try to do that address a model instead of a person: give it other orders, make it somebody else, or have it give
 * away what it was shown. They are flagged and nothing else: what makes them harmless does not depend on their being seen.
 */
const ATTACKS = ['injection', 'role_play', 'exfiltration'] as const;
export type Attack = (typeof ATTACKS)[number];

/** The kinds of attacks in a text, in linear time. Prefers silence to false alarms: people tell a model what to do all day. */
export function attacksIn(text: string): readonly Attack[] {
  const plain = text.normalize('NFKC').replaceAll('’', "'");
  return ATTACKS.filter((kind) => FORMS[kind].some((form) => form.test(plain)));
}

/** Characters that are looked through at a time: some milliseconds. */
const PIECE = 10_000;
/** No form is longer. */
const OVERLAP = 500;

/** The same of a text of any length, in slices. */
export function* attacksInLong(text: string): Sliced<readonly Attack[]> {
  const seen = new Set<Attack>();
  for (let from = 0; from < text.length; from += PIECE) {
    yield;
    // What only begins a piece begins no text.
    const before = from === 0 ? '' : `x${text.slice(from - OVERLAP, from)}`;
    for (const kind of attacksIn(before + text.slice(from, from + PIECE))) seen.add(kind);
  }
  return ATTACKS.filter((kind) => seen.has(kind));
}

/** Where an order begins: "my kids ignore all instructions" is none. */
const ORDER = String.raw`(?<=^|[.!?:;,\n"'“(*>\]}\-#]\s{0,3}|\b(?:please|now|and|then|must|should|shall|just|immediately)\s)`;
/** Within a sentence. Short, so that what it is looked for in stays linear. */
const GAP = '[^.!?\\n]{0,40}?';
const SYSTEM_PROMPT =
  '(?:system ?-?(?:prompt|message|instructions?)|initial (?:prompt|instructions?)|hidden (?:prompt|instructions?|rules)|developer (?:message|prompt)|(?:previous|above) (?:prompt|instructions))';

const INJECTION = [
  // English
  `${ORDER}(?:ignore|disregard|forget|override|bypass|discard|do not follow|don't follow|stop following)\\b${GAP}\\b(?:(?:previous|prior|above|earlier|preceding|initial|original|system|safety|your)\\b${GAP}\\b(?:instructions?|prompts?|rules|guidelines|directives|commands|programming|constraints|restrictions)|(?:all|any) (?:instructions?|prompts?|guidelines|directives))\\b`,
  `${ORDER}(?:ignore|disregard|forget) (?:everything|anything|all)(?: (?:that )?(?:(?:was|is|i|you were|you've been) )?(?:said|told|written|given|stated))?(?: to you)? (?:above|before this|so far|previously)\\b`,
  `(?:^|\\n|[.!?:]\\s)\\W{0,3}(?:new|updated|important|urgent|real) (?:system )?instructions?(?: for (?:the |an? )?(?:assistant|ai|model|llm|bot))?\\s?:`,
  `\\b(?:note|message|instructions?|attention|notice) (?:to|for) (?:the |any |all )?(?:ai|llm|language model|assistant|chatbot)s?(?: (?:assistant|agent|model)s?)?\\s?[:,-]`,
  // German, French, Spanish, Portuguese, Italian, Russian
  `(?:ignorier|missacht|vergiss|vergesst|überschreib)\\p{L}{0,4}\\b${GAP}\\b(?:vorherige|bisherige|obige|frühere|vorige|deine|alle)\\p{L}{0,2}\\b${GAP}(?:anweisung|instruktion|vorgabe|systemprompt|befehl)`,
  `(?:ignore[zr]?|oublie[zr]?|ne (?:suis|tiens) pas)\\b${GAP}(?:instructions?|consignes?|directives)\\b${GAP}(?:précédent|antérieur|ci-dessus|initiale|système)`,
  `(?:ignor[ae]|olvida|descarta|esque[çc]a|desconsidere)\\b${GAP}(?:instrucciones|instruç(?:ões|oes)|reglas|regras|órdenes|ordens)\\b${GAP}(?:anterior|previa|prévia|sistema|arriba|acima)`,
  `(?:ignora|dimentica)\\b${GAP}(?:istruzioni|regole)\\b${GAP}(?:precedent|sistema|sopra)|(?:ignora|dimentica)\\b${GAP}precedenti ${GAP}istruzioni`,
  `(?:игнорируй|забудь|отбрось)\\p{L}{0,3}${GAP}(?:предыдущ|прежн|все|системн|свои)\\p{L}{0,4}${GAP}(?:инструкци|указани|правил|команд)`,
  // Chinese, Japanese, Korean, Arabic, Hindi
  `(?:忽略|无视|無視|忘记|忘記|忘掉|不要遵守|不要理会)[^。！？\\n]{0,12}?(?:之前|以上|上面|先前|前面|此前|所有|你的|系统|系統|全部)[^。！？\\n]{0,8}?(?:指令|指示|提示|规则|規則|命令|设定|設定)`,
  `(?:これまで|以前|上記|前|すべて|全て)[^。\\n]{0,8}?(?:指示|命令|ルール|プロンプト)[^。\\n]{0,4}?(?:無視|忘れ)`,
  `(?:이전|위의|위|모든|기존)[^.\\n]{0,8}?(?:지시|명령|규칙|프롬프트)[^.\\n]{0,6}?(?:무시|잊)`,
  `تجاهل[^.\\n]{0,20}?(?:التعليمات|الأوامر|تعليمات)`,
  `(?:पिछले|पिछली|सभी)[^।\\n]{0,10}?(?:निर्देश)[^।\\n]{0,12}?(?:अनदेखा|भूल|नज़रअंदाज)`,
];

const ROLE_PLAY = [
  `<\\|(?:im_start|system|start_header_id)|\\[/?INST\\]|<<SYS>>`,
  `(?:^|\\n)\\s{0,4}(?:#{1,4}\\s?|\\[|<|\\()(?:system|developer)(?: (?:prompt|message|override|note))?(?:\\s?:|\\]|>|\\))`,
  `(?:^|\\n)\\W{0,4}(?:system|developer|admin(?:istrator)?) ?(?:prompt|message|override|command|mode|note)?\\s?:\\s?(?:you|ignore|forget|the (?:user|assistant)|from now|always|never|new|reveal|obey)\\b`,
  `\\byou are (?:now|no longer)\\b${GAP}\\b(?:dan|unrestricted|uncensored|unfiltered|jailbroken|root|(?:an? |the )(?:system|admin(?:istrator)?|hacker|evil ai)|(?:developer|debug|god|admin|maintenance) mode|bound by|restricted by|without (?:rules|restrictions|limits))\\b`,
  `\\b(?:act|behave|respond|answer|pretend|roleplay)\\b(?: as| to be| that you are| you are| like)\\b${GAP}\\b(?:dan|(?:an? )?(?:unrestricted|uncensored|unfiltered|jailbroken)|(?:the|a) (?:system|administrator)|(?:with|has|have) no (?:rules|restrictions|filters?|limits))\\b`,
  `\\b(?:enter|enable|activate|switch to|you are in) (?:developer|debug|god|admin|jailbreak|dan|maintenance) mode\\b|\\bdo anything now\\b`,
  `\\bfrom now on,? you (?:must|will|shall|only) (?:obey|ignore|always|answer only|act as|comply|never refuse)\\b`,
  `du bist (?:ab )?jetzt\\b${GAP}(?:system|administrator|ohne (?:regeln|einschränkung|grenzen)|entwicklermodus)`,
  `(?:tu es|vous êtes) (?:désormais|maintenant)\\b${GAP}(?:le système|administrateur|sans (?:restriction|règle|limite|filtre))`,
  `(?:ahora eres|actúa como|finge ser|agora (?:tu és|você é)|aja como)\\b${GAP}(?:el sistema|o sistema|administrador|sin (?:restricciones|reglas|límites)|sem (?:restrições|regras|limites))`,
  `(?:ты теперь|теперь ты|притворись)${GAP}(?:систем|администратор|без (?:ограничений|правил))`,
  `(?:你现在是|你現在是|从现在起你是|从现在开始你是|假装你是|扮演)[^。！？\\n]{0,12}?(?:系统|系統|管理员|管理員|没有限制|不受限制|没有任何限制|越狱|DAN)|(?:进入|启用|開啟|开启)(?:开发者|開發者|调试|越狱|上帝)模式`,
  `あなたは(?:今から|これから|もう)[^。\\n]{0,14}?(?:システム|管理者|制限のない|制約のない)|(?:開発者|デベロッパー)モード(?:に|を)`,
];

const EXFILTRATION = [
  `${ORDER}(?:reveal|show|print|repeat|output|display|leak|disclose|dump|share|tell|give|send|list|paste)\\b${GAP}\\b(?:${SYSTEM_PROMPT}|your (?:instructions|prompt|api keys?|secrets?|credentials)|(?:the |all |any |stored |saved )+(?:api keys?|credentials|passwords|secrets) (?:you|of (?:the|all|every|other))|(?:other|another) users?'?s? (?:memor|data|messages|secrets|conversation|information)|everything (?:above|in your (?:context|prompt|memory)))`,
  `${ORDER}(?:send|post|forward|upload|e?-?mail|exfiltrate|transmit|append|encode)\\b${GAP}\\b(?:memor(?:y|ies)|conversation|chat (?:history|log)|personal (?:data|information)|everything you (?:know|remember)|user(?:'s)? (?:data|secrets)|secrets|passwords|credentials)\\b${GAP}(?:https?:|\\bto\\b|\\binto\\b|@)`,
  `!\\[[^\\]\\n]{0,80}\\]\\(https?:\\/\\/[^)\\s]{0,200}[?&][^)\\s=]{0,60}=(?:\\{|\\[|<|%7b|\\$)`,
  `(?:zeig|verrate|nenn|gib|wiederhol)\\p{L}{0,3}\\b${GAP}(?:system-?prompt|deine (?:anweisungen|instruktionen)|andere[rn]? (?:nutzer|benutzer))`,
  `(?:montre|révèle|affiche|répète|donne)\\p{L}{0,3}(?:-moi)?\\b${GAP}(?:prompt système|invite système|(?:tes|vos) (?:instructions|consignes)|autres utilisateurs)`,
  `(?:muestra|revela|repite|dime|mostre|revele|repita|mostra|rivela)\\p{L}{0,3}\\b${GAP}(?:prompt (?:del|do|di) sistema|tus instrucciones|suas instruções|otros usuarios|outros usuários)`,
  `(?:покажи|раскрой|повтори|выведи|сообщи)\\p{L}{0,3}${GAP}(?:системн\\p{L}{1,4} (?:промпт|инструкци|сообщени)|свои инструкции|других пользовател)`,
  `(?:显示|顯示|透露|告诉我|告訴我|输出|輸出|打印|重复|泄露|公开)[^。！？\\n]{0,10}?(?:系统提示|系統提示|提示词|你的指令|隐藏指令|初始指令|其他用户|其他用戶)`,
  `(?:发送|發送|上传|转发|把)[^。！？\\n]{0,14}?(?:记忆|記憶|聊天记录|聊天紀錄|对话记录|密码|密碼)[^。！？\\n]{0,10}?(?:到|给|給|至|发送)[^。！？\\n]{0,6}?(?:http|@|服务器|邮箱)`,
  `(?:システムプロンプト|初期指示|他のユーザー)[^。\\n]{0,12}?(?:見せ|表示|教え|出力|繰り返)`,
];

/** One pattern for each place: short gaps alone stand between the words of each, so that none looks twice at the same. */
const FORMS: Readonly<Record<Attack, readonly RegExp[]>> = {
  injection: INJECTION.map((form) => new RegExp(form, 'iu')),
  role_play: ROLE_PLAY.map((form) => new RegExp(form, 'iu')),
  exfiltration: EXFILTRATION.map((form) => new RegExp(form, 'iu')),
};
