import { asObject, type Fields, listOf, momentOf, textOf, WorldError } from '../world.ts';
import type { AskedQuestion, Conversation, Corpus, Session } from './corpus.ts';
import { messageOf } from './from-batches.ts';

/** {"conversations":[{"user","sessions":[{"at","messages":[…]}]}],"questions":[{"user","question","gold":[…],"category"}]} */
export function fromConversations(file: Fields): Corpus {
  const conversations = listOf(file.conversations, 'conversations').map(conversationOf);
  return {
    name: typeof file.name === 'string' ? file.name : 'unnamed',
    conversations,
    questions: listOf(file.questions, 'questions').map((question, i) => questionOf(question, i, conversations)),
  };
}

function conversationOf(given: unknown, i: number): Conversation {
  const where = `conversations[${i}]`;
  const fields = asObject(given, where);
  const user = fields.user === undefined ? String(i) : textOf(fields.user, `${where}.user`);
  if (fields.sessions === undefined) return { user, sessions: [sessionOf(fields, where)] };
  const sessions = listOf(fields.sessions, `${where}.sessions`);
  return { user, sessions: sessions.map((session, j) => sessionOf(session, `${where}.sessions[${j}]`)) };
}

/** A session may be the list of its messages. */
function sessionOf(given: unknown, where: string): Session {
  const session = Array.isArray(given) ? { messages: given } : asObject(given, where);
  const { at, messages } = session as Fields;
  return {
    at: momentOf(at, `${where}.at`),
    messages: listOf(messages, `${where}.messages`).map((message, i) => messageOf(message, `${where}.messages[${i}]`)),
  };
}

function questionOf(given: unknown, i: number, conversations: readonly Conversation[]): AskedQuestion {
  const where = `questions[${i}]`;
  const question = asObject(given, where);
  const gold = [...new Set(goldOf(question, where))];
  const answerable = question.answerable !== false;
  if (answerable && gold.length === 0) {
    throw new WorldError(`expected ${where} to have gold texts or "answerable": false, got neither`);
  }
  return {
    user: userOf(question.user, where, conversations),
    text: textOf(question.question ?? question.q, `${where}.question`),
    gold: answerable ? gold : [],
    category: question.category === undefined ? null : String(question.category),
    answerable,
  };
}

function goldOf(question: Fields, where: string): readonly string[] {
  const given = question.gold ?? question.goldTexts ?? question.evidence ?? [];
  const list = typeof given === 'string' ? [given] : listOf(given, `${where}.gold`);
  return list.map((text, i) => textOf(text, `${where}.gold[${i}]`));
}

function userOf(given: unknown, where: string, conversations: readonly Conversation[]): string {
  const [only, ...others] = conversations;
  if (given === undefined && only !== undefined && others.length === 0) return only.user;
  const user = conversations.find((conversation) => conversation.user === String(given));
  if (user !== undefined) return user.user;
  throw new WorldError(`expected ${where}.user to be one of the conversations' users, got ${JSON.stringify(given)}`);
}
