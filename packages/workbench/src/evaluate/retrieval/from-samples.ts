import { asObject, type Fields, listOf, textOf, WorldError } from '../world.ts';
import type { AskedQuestion, Conversation, Corpus, SaidMessage, Session } from './corpus.ts';

/** Questions of this category ask for what the conversation does not say. */
const UNANSWERABLE = '5';

/**
 * The public LoCoMo shape: a list of samples, each a conversation of two speakers in sessions, with questions that name the
 * turns they rest on.
 */
export function fromSamples(samples: readonly unknown[]): Corpus {
  const read = samples.map(sampleOf);
  return {
    name: `${samples.length} samples`,
    conversations: read.map(({ conversation }) => conversation),
    questions: read.flatMap(({ questions }) => questions),
  };
}

interface Sample {
  readonly conversation: Conversation;
  readonly questions: readonly AskedQuestion[];
}

interface Turn {
  readonly id: string;
  readonly message: SaidMessage;
}

function sampleOf(given: unknown, i: number): Sample {
  const where = `[${i}]`;
  const sample = asObject(given, where);
  const talk = asObject(sample.conversation, `${where}.conversation`);
  const sessions = sessionNumbers(talk).map((number) => ({
    at: saidAt(talk[`session_${number}_date_time`], `${where}.conversation.session_${number}_date_time`),
    turns: listOf(talk[`session_${number}`], `${where}.conversation.session_${number}`).map((turn, j) =>
      turnOf(turn, `${where}.conversation.session_${number}[${j}]`),
    ),
  }));
  const texts = new Map(sessions.flatMap(({ turns }) => turns.map(({ id, message }) => [id, message.content])));
  const user = typeof sample.sample_id === 'string' ? sample.sample_id : String(i);
  const said = sessions.map(({ at, turns }): Session => ({ at, messages: turns.map(({ message }) => message) }));
  const asked = listOf(sample.qa, `${where}.qa`);
  return {
    conversation: { user, sessions: said },
    questions: asked.flatMap((question, j) => questionOf(question, { where: `${where}.qa[${j}]`, user, texts })),
  };
}

const sessionNumbers = (talk: Fields): number[] =>
  Object.keys(talk)
    .flatMap((key) => /^session_(\d+)$/.exec(key)?.[1] ?? [])
    .map(Number)
    .sort((a, b) => a - b);

/** A picture is written as its message would have it: [image: …]. */
function turnOf(given: unknown, where: string): Turn {
  const turn = asObject(given, where);
  const image = typeof turn.blip_caption === 'string' ? `\n[image: ${turn.blip_caption}]` : '';
  const name = textOf(turn.speaker, `${where}.speaker`);
  const content = textOf(`${turn.text ?? ''}${image}`, `${where}.text`);
  return { id: textOf(turn.dia_id, `${where}.dia_id`), message: { role: 'user', name, content, at: null } };
}

const MOMENT = /^(\d{1,2}):(\d{2})\s*([ap]m)\s+on\s+(\d{1,2})\s+(\w+),?\s+(\d{4})$/i;

/** "1:56 pm on 8 May, 2023", taken as UTC. */
function saidAt(given: unknown, where: string): string {
  const [, hour, minute, half, day, month, year] = MOMENT.exec(String(given).trim()) ?? [];
  const at = Date.parse(`${day} ${month} ${year} 00:00 UTC`);
  if (Number.isNaN(at)) {
    throw new WorldError(`expected ${where} to be like "1:56 pm on 8 May, 2023", got ${JSON.stringify(given)}`);
  }
  const hours = (Number(hour) % 12) + (half?.toLowerCase() === 'pm' ? 12 : 0);
  return new Date(at + (hours * 60 + Number(minute)) * 60_000).toISOString();
}

interface AskedIn {
  readonly where: string;
  readonly user: string;
  readonly texts: ReadonlyMap<string, string>;
}

/** Evidence is a list of turn ids, some of them several in one text. A question whose turns are not there is not asked. */
function questionOf(given: unknown, { where, user, texts }: AskedIn): AskedQuestion[] {
  const question = asObject(given, where);
  const category = question.category === undefined ? null : String(question.category);
  const text = textOf(question.question, `${where}.question`);
  if (category === UNANSWERABLE) return [{ user, text, gold: [], category, answerable: false }];
  const ids = listOf(question.evidence ?? [], `${where}.evidence`).flatMap((id) => String(id).split(/[\s,;]+/));
  const gold = [...new Set(ids.flatMap((id) => texts.get(id) ?? []))];
  return gold.length === 0 ? [] : [{ user, text, gold, category, answerable: true }];
}
