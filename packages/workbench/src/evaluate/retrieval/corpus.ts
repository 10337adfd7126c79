import { asObject, parsed, WorldError } from '../world.ts';
import { fromBatches } from './from-batches.ts';
import { fromConversations } from './from-conversations.ts';
import { fromSamples } from './from-samples.ts';

/** What is said, by whom and when, and questions with the texts that answer them. */
export interface Corpus {
  readonly name: string;
  readonly conversations: readonly Conversation[];
  readonly questions: readonly AskedQuestion[];
}

/** Everything one user's memory is made of. */
export interface Conversation {
  /** A name of the file's own. */
  readonly user: string;
  readonly sessions: readonly Session[];
}

export interface Session {
  /** ISO 8601; null: said when it is posted. */
  readonly at: string | null;
  readonly messages: readonly SaidMessage[];
}

export interface SaidMessage {
  readonly role: 'user' | 'assistant';
  readonly name: string | null;
  readonly content: string;
  readonly at: string | null;
}

export interface AskedQuestion {
  readonly user: string;
  readonly text: string;
  /** The texts a search should find, each once; none where nothing answers the question. */
  readonly gold: readonly string[];
  readonly category: string | null;
  readonly answerable: boolean;
}

/** Reads any of the three forms; see docs/retrieval.md. */
export function readCorpus(json: string): Corpus {
  const file = parsed(json);
  const corpus = Array.isArray(file) ? fromSamples(file) : fromObject(asObject(file, 'the file'));
  if (!corpus.conversations.some(({ sessions }) => sessions.some(({ messages }) => messages.length > 0))) {
    throw new WorldError('expected at least one message, got none');
  }
  if (corpus.questions.length === 0) throw new WorldError('expected at least one question with gold texts, got none');
  return corpus;
}

function fromObject(file: ReturnType<typeof asObject>): Corpus {
  if ('conversations' in file) return fromConversations(file);
  if ('batches' in file) return fromBatches(file);
  throw new WorldError('expected conversations or batches in the file, or a list of samples, got none of them');
}
