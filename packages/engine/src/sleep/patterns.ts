import { isFallen, PIECES_NEEDED, piecesOf } from '../memories/conclusions.ts';
import { idListsOf, lastSaidAt } from '../memories/evolve.ts';
import { attacksIn } from '../messages/messages.ts';
import type { Asking } from '../models/ask.ts';
import { conclusionsIn, FIND_PATTERNS, type RawConclusion } from '../models/prompts/night.ts';
import type { Remark } from '../plan.ts';
import type { SleepSettings } from '../settings.ts';
import { claimsOf, joinedWords, wordsIn } from '../text/claims.ts';
import { DAY_MS } from '../text/dates.ts';
import { normaliseText, sameText } from '../text/normalise.ts';
import { isMadeOf, shareOf } from '../text/support.ts';
import { containment, overlap, termSet } from '../text/terms.ts';
import { CERTAINTIES, type Certainty, type Memory, saidBefore } from '../words.ts';
import type { Desk, Live } from './drafts.ts';
import { answersAbout, isDenied, type Judged, nearInput, nearness, type Questions, textsOf } from './neighbours.ts';
import { actKey, fallKey, type Sight } from './sight.ts';

/*
 * Conclusions: what several memories show together and none of them says. A model proposes them, and rules decide: what rests on fewer
 * than two things that somebody said at different times is nothing, however well it sounds.
 */

/** Memories of one question. */
const GROUP = 16;
/** What may show something together shares this much of its words. */
const RELATED = 0.08;
/** What a conversation says, it says within this time. */
const SITTING_MS = DAY_MS / 24;
/** So much of what a conclusion says in particular stands in its evidence, and so much in each piece of it. */
const CARRIED = 0.75;
const SUPPORTED = 0.34;
/** Texts that share this much of their words say the same, or the opposite. */
const SAME = 0.8;
const NEARLY_ALL = 0.9;
const ALIKE = 0.34;
/** In characters. */
const TEXT_MAX = 300;

/** How often somebody does a thing follows from how often they said so. */
const HOW_OFTEN =
  /(?<!\p{L})(?:often|usually|regularly|frequently|repeatedly|typically|generally|tends? to|häufig|oft|regelmäßig|meistens)(?!\p{L})/giu;

interface Concluding {
  readonly asking: Asking;
  readonly desk: Desk;
  /** Those that say what they said before this night. */
  readonly lives: readonly Live[];
  readonly memories: readonly Memory[];
  readonly sight: Sight;
  readonly sleep: SleepSettings;
  readonly questions: Questions;
}

/** Asks what memories that are near each other show together, where one of them is new or a conclusion from it fell. */
export async function findPatterns(given: Concluding): Promise<Judged> {
  const { asking, desk, lives, memories, sight, sleep, questions } = given;
  if (!sleep.acts.patterns) return { remarks: [], more: false };
  const evident = lives.filter(isEvident);
  const fallen = memories.filter((memory) => isFallen(memory) && !sight.has(fallKey(memory)));
  const left = new Set(fallen.flatMap(piecesOf));
  const news = evident.filter((live) => left.has(live.memory.id) || !sight.has(actKey('patterns', live)));
  const remarks: Remark[] = [];
  for await (const { seed, group } of groupsOf(asking, evident, news)) {
    if (group.length > 1) {
      const step =
        desk.drafts.length < sleep.limits.operations ? await questions.next(FIND_PATTERNS, textsOf(group)) : null;
      if (step === null) return { remarks, more: true };
      remarks.push(...(await conclude(given, { group, step })));
    }
    sight.judge(actKey('patterns', seed));
  }
  for (const memory of fallen) sight.judge(fallKey(memory));
  return { remarks, more: false };
}

/** What is new, each with what is near it; alone where it was near another one before. */
async function* groupsOf(
  asking: Asking,
  evident: readonly Live[],
  news: readonly Live[],
): AsyncGenerator<{ readonly seed: Live; readonly group: readonly Live[] }> {
  if (news.length === 0) return;
  const nearTo = await nearness(asking, evident, { most: GROUP - 1, likeness: RELATED });
  const shown = new Set<string>();
  for (const seed of news) {
    await asking.deps.tools.breathe();
    const group = shown.has(seed.memory.id) ? [] : [seed, ...nearTo(seed)];
    if (group.length > 1) for (const { memory } of group) shown.add(memory.id);
    yield { seed, group };
  }
}

/** Whether somebody said it, and it holds until they say otherwise. */
function isEvident({ version: { details } }: Live): boolean {
  const { trust, flagged, expiresAt, concluded, task } = details;
  return (
    trust !== 'inferred' &&
    trust !== 'external' &&
    flagged !== true &&
    expiresAt === null &&
    (concluded ?? task) === undefined
  );
}

interface Asked {
  readonly group: readonly Live[];
  readonly step: string;
}

async function conclude(given: Concluding, { group, step }: Asked): Promise<readonly Remark[]> {
  const { asking, desk, memories } = given;
  const ordered = [...group].sort((a, b) => (saidBefore(lastSaidAt(a.memory), lastSaidAt(b.memory)) ? -1 : 1));
  const found = await answersAbout(asking, {
    ...{ step, prompt: FIND_PATTERNS, ask: 'What do several of these show together?' },
    ...{ input: nearInput(ordered), shape: conclusionsIn },
  });
  if ('failed' in found) return [{ asked: 'find what memories show together', did: found.failed }];
  if (found.length === 0) return [];
  const isApart = await apartness(asking, ordered);
  const deleted = await deletedAmong(asking, found);
  return found.flatMap((raw): Remark[] => {
    const checked = checkedOf(raw, { given, shown: ordered, isApart, isDeleted: (text) => deleted.has(text) });
    const asked = `conclude “${raw.text}” from ${raw.evidence.join(', ')}: ${raw.reason}`;
    if (typeof checked === 'string') return [{ asked, did: `refused: ${checked}` }];
    const again = memories.find((memory) => isFallen(memory) && saysSame(memory, raw.text)) ?? null;
    const count = checked.pieces.length;
    const reason = `${count} memories said at different times show it: ${raw.reason}`;
    desk.conclude({ text: raw.text.trim(), certainty: checked.certainty, pieces: checked.pieces, again, reason });
    return [];
  });
}

/** Whether two memories were said in different conversations: in no batch together, and not within an hour. */
async function apartness({ deps, turn }: Asking, lives: readonly Live[]): Promise<(one: Live, other: Live) => boolean> {
  const ids = lives.flatMap(({ version }) => version.details.sourceIds);
  const messages = await deps.ledger.memories.messages(turn.tenant, [...new Set(ids)]);
  const batchesOf = ({ version }: Live): readonly string[] =>
    version.details.sourceIds.flatMap((id) => messages.get(id)?.batchId ?? []);
  return (one, other) =>
    Math.abs(one.version.saidAt.at - other.version.saidAt.at) >= SITTING_MS &&
    !batchesOf(one).some((id) => batchesOf(other).includes(id));
}

/** Which of these texts somebody deleted. */
async function deletedAmong({ deps, turn }: Asking, found: readonly RawConclusion[]): Promise<ReadonlySet<string>> {
  const hashes = new Map(found.map(({ text }) => [deps.tools.hash(normaliseText(text)), text]));
  const tombstones = await deps.ledger.memories.tombstones(turn.lane, [...hashes.keys()]);
  return new Set(tombstones.map(({ textHash }) => hashes.get(textHash) ?? ''));
}

interface Checking {
  readonly given: Concluding;
  readonly shown: readonly Live[];
  readonly isApart: (one: Live, other: Live) => boolean;
  readonly isDeleted: (text: string) => boolean;
}

interface Checked {
  readonly pieces: readonly Live[];
  readonly certainty: Certainty;
}

/** What a conclusion rests on, or why it is none. */
function checkedOf(raw: RawConclusion, checking: Checking): Checked | string {
  const { text } = raw;
  if (text.trim() === '' || text.length > TEXT_MAX) return `expected a text of 1 to ${TEXT_MAX} characters`;
  if (attacksIn(text).length > 0) return 'it addresses a model';
  const named = [...new Set(raw.evidence)].map((id) => (/^\d+$/u.test(id) ? checking.shown[Number(id)] : undefined));
  const evidence = named.filter((live) => live !== undefined);
  if (evidence.length < named.length) return 'it cites evidence that was not shown';
  if (evidence.length < 2) return 'it needs at least two pieces of evidence';
  const pieces = independent(evidence, checking.isApart);
  return (
    sourcesRefused(pieces) ??
    sureRefused(raw, pieces) ??
    wordsRefused(text, pieces) ??
    knownRefused(text, pieces, checking) ?? {
      pieces,
      certainty: raw.certainty as Certainty,
    }
  );
}

/** Those of which none repeats another one, or was said in the same conversation; the earliest of each. */
function independent(evidence: readonly Live[], isApart: Checking['isApart']): readonly Live[] {
  const chosen: Live[] = [];
  for (const live of evidence.toSorted((a, b) => (saidBefore(a.version.saidAt, b.version.saidAt) ? -1 : 1)))
    if (chosen.every((one) => isApart(one, live) && !repeats(one, live))) chosen.push(live);
  return chosen;
}

const repeats = ({ version: one }: Live, { version: other }: Live): boolean =>
  overlap(one.text, other.text) >= SAME || isAllIn(one.text, other.text) || isAllIn(other.text, one.text);

/** Whether nearly all that a text says in particular stands in another one, in its words or in others for the same thing. */
const isAllIn = (part: string, whole: string): boolean => shareOf(claimsOf(part), [wordsIn(whole)]) >= NEARLY_ALL;

function sourcesRefused(pieces: readonly Live[]): string | null {
  if (pieces.length < 2) return 'its evidence was said in one conversation, or repeats itself';
  if (new Set(pieces.map(({ version }) => version.details.about)).size > 1)
    return 'its evidence is about different people';
  const apps = new Set(pieces.map(({ memory }) => [...idListsOf(memory).appId].sort().join('\n')));
  if (apps.size > 1 || [...apps].join('').includes('\n')) return 'its evidence was said in different apps';
  return null;
}

function sureRefused({ certainty }: RawConclusion, pieces: readonly Live[]): string | null {
  const known = CERTAINTIES.find((one) => one === certainty);
  if (known === undefined) return `expected a certainty of ${CERTAINTIES.join(', ')}, got “${certainty}”`;
  const [needed, there] = [PIECES_NEEDED[known], pieces.length];
  return there < needed
    ? `${known} certainty needs ${needed} independent pieces of evidence, and it has ${there}`
    : null;
}

function wordsRefused(text: string, pieces: readonly Live[]): string | null {
  if (pieces.some(({ version }) => isDenied(version.text) !== isDenied(text))) return 'its evidence contradicts it';
  const texts = pieces.map(({ version }) => version.text);
  const plain = text.replace(HOW_OFTEN, '');
  const claims = claimsOf(plain);
  const saidAt = Math.max(...pieces.map(({ version }) => version.saidAt.at));
  if (!isMadeOf(plain, texts, saidAt) || shareOf(claims, [joinedWords(texts.map(wordsIn))]) < CARRIED)
    return 'it goes beyond its evidence';
  if (texts.some((one) => shareOf(claims, [wordsIn(one)]) < SUPPORTED))
    return 'a piece of its evidence does not support it';
  return null;
}

function knownRefused(text: string, pieces: readonly Live[], { given, isDeleted }: Checking): string | null {
  const { desk, lives, memories } = given;
  const cited = new Set(pieces.map(({ memory }) => memory.id));
  const others = lives.filter(({ memory }) => !cited.has(memory.id));
  if (others.some(({ version }) => overlap(version.text, text) >= ALIKE && isDenied(version.text) !== isDenied(text)))
    return 'another memory contradicts it';
  if (lives.some(({ version }) => containment(termSet(text), version.text) === 1)) return 'a memory already says it';
  const before = memories.filter((memory) => saysSame(memory, text));
  if (
    before.some((memory) => !isFallen(memory)) ||
    desk.drafts.some(({ act }) => act.after !== null && sameText(act.after, text))
  )
    return 'it was already concluded';
  return isDeleted(text) ? 'somebody deleted it' : null;
}

/** Whether a memory has ever been concluded to say this. */
const saysSame = (memory: Memory, text: string): boolean =>
  memory.timeline.some(
    (mark) => mark.kind === 'said' && mark.details.concluded !== undefined && sameText(mark.text, text),
  );
