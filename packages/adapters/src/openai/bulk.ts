import { type BulkAnswer, type BulkProvider, type Cancellation, EngineError, type JsonObject } from '@slowwave/engine';
import { toFile } from 'openai';
import { readChatAnswer } from './answer.ts';
import { type ChatOptions, chatRequest, outputLimit } from './chat.ts';
import { type Connection, connect, exchange, fetchWithPlainErrors } from './client.ts';
import { type Complaint, rejection } from './failure.ts';
import { type KnownManners, unstreamed } from './manners.ts';

/** What a job is called there, and its files; as the ledger keeps it. */
interface Remote {
  readonly file?: string | null;
  readonly batch?: string | null;
  readonly output?: string | null;
  readonly errors?: string | null;
}

/** Of one request: the four of a step are over before another worker takes its job for abandoned. */
const TIMEOUT_MS = 12_000;
/** Of all answers of a job: some hundred long ones. */
const ANSWERS_BYTES_MAX = 256 * 1024 * 1024;
/** Under this name a job says whose it is. */
const MARK = 'slowwave_job';
/** Pages of jobs and files that are looked through for one of ours. */
const LISTED_MAX = 100;

type Job = Parameters<BulkProvider['submit']>[0];

/** OpenAI's batch API: a file of questions, a batch that answers them within a day, and a file of answers. */
export function openaiBulk(options: ChatOptions, manners: () => Promise<KnownManners>): BulkProvider {
  const connection = connect({ ...options, timeoutMs: Math.min(options.timeoutMs, TIMEOUT_MS) });
  const client = connection.client.withOptions({ fetch: fetchWithPlainErrors({ bytesMax: ANSWERS_BYTES_MAX }) });
  const asking = { ...connection, client };

  const find = async (id: string, cancel: Cancellation): Promise<Remote | null> => {
    const batches = await answered(asking, cancel, (signal) => client.batches.list({ limit: LISTED_MAX }, { signal }));
    const batch = batches.data.find(({ metadata }) => metadata?.[MARK] === id);
    if (batch !== undefined) return remoteOf(batch);
    const listed = await answered(asking, cancel, (signal) =>
      client.files.list({ purpose: 'batch', limit: LISTED_MAX }, { signal }),
    );
    const file = listed.data.find(({ filename }) => filename === nameOf(id));
    return file === undefined ? null : { file: file.id };
  };

  const upload = async ({ id, questions }: Job, cancel: Cancellation): Promise<string> => {
    const known = unstreamed(await manners()).now();
    const lines = questions.map(({ id: custom_id, call }) => {
      const limit = outputLimit(options, call, known);
      const body = { ...chatRequest(options.model, call, { manners: known, limit }), ...options.extraBody };
      return JSON.stringify({ custom_id, method: 'POST', url: '/v1/chat/completions', body });
    });
    const file = await toFile(Buffer.from(`${lines.join('\n')}\n`), nameOf(id), { type: 'application/jsonl' });
    const made = await answered(asking, cancel, (signal) =>
      client.files.create({ file, purpose: 'batch' }, { signal }),
    );
    return made.id;
  };

  return {
    model: options.model,
    find: async (id, cancel) => kept(await find(id, cancel)),
    submit: async (job, cancel) => {
      const found = await find(job.id, cancel);
      if (found?.batch != null) return stored(found);
      const input_file_id = found?.file ?? (await upload(job, cancel));
      const batch = await answered(asking, cancel, (signal) =>
        client.batches.create(
          {
            input_file_id,
            endpoint: '/v1/chat/completions',
            completion_window: '24h',
            metadata: { [MARK]: job.id },
          },
          { signal },
        ),
      );
      return stored(remoteOf(batch));
    },
    look: async (remote, cancel) => {
      const { batch } = remote as Remote;
      if (batch == null) return { remote, isOver: true };
      const found = await unlessGone(asking, cancel, (signal) => client.batches.retrieve(batch, { signal }));
      if (found === null) return { remote, isOver: true };
      return { remote: stored(remoteOf(found)), isOver: OVER.includes(found.status) };
    },
    answers: async (remote, cancel) => {
      const { output } = remote as Remote;
      if (output == null) return [];
      const response = await unlessGone(asking, cancel, (signal) => client.files.content(output, { signal }));
      const text = (await response?.text()) ?? '';
      return text.split('\n').flatMap((line) => answerIn(line, connection));
    },
    cancel: async (remote, cancel) => {
      const { batch } = remote as Remote;
      if (batch != null) await unlessGone(asking, cancel, (signal) => client.batches.cancel(batch, { signal }));
    },
    remove: async (remote, cancel) => {
      const { file, output, errors } = remote as Remote;
      for (const id of [file, output, errors])
        if (id != null) await unlessGone(asking, cancel, (signal) => client.files.delete(id, { signal }));
    },
  };
}

const nameOf = (id: string): string => `slowwave-${id}.jsonl`;

const OVER = ['failed', 'completed', 'expired', 'cancelled'];

interface Batch {
  readonly id: string;
  readonly input_file_id: string;
  readonly output_file_id?: string | null;
  readonly error_file_id?: string | null;
}

const remoteOf = ({ id, input_file_id, output_file_id, error_file_id }: Batch): Remote => ({
  ...{ batch: id, file: input_file_id },
  ...{ output: output_file_id ?? null, errors: error_file_id ?? null },
});

const stored = (remote: Remote): JsonObject => ({ ...remote }) as JsonObject;
const kept = (remote: Remote | null): JsonObject | null => remote && stored(remote);

type Send<T> = (signal: AbortSignal) => Promise<T>;

async function answered<T extends object>(to: Connection, cancel: Cancellation, send: Send<T>): Promise<T> {
  const outcome = await exchange({ place: to.place, cancel }, send);
  if ('complaint' in outcome) throw refusal(outcome.complaint, to);
  return outcome.body as T;
}

/** null: there is nothing to do it with any more, or it is over. */
async function unlessGone<T extends object>(to: Connection, cancel: Cancellation, send: Send<T>): Promise<T | null> {
  const outcome = await exchange({ place: to.place, cancel }, send);
  if (!('complaint' in outcome)) return outcome.body as T;
  if (GONE.includes(outcome.complaint.status)) return null;
  throw refusal(outcome.complaint, to);
}

const GONE = [400, 404, 409, 410];

/** A server without batches says that there is no such address: asking again would not help. */
function refusal(complaint: Complaint, { place }: Connection): EngineError {
  const error = rejection(complaint, place, []);
  if (![404, 405, 501].includes(complaint.status)) return error;
  const message = `${error.message}. It may have no batch API; set SLOWWAVE_CHAT_BATCHES=off`;
  return new EngineError(message, { code: 'model_rejected', retryable: false, cause: error });
}

/** One line of a file of answers; whatever cannot be read is no answer. */
function answerIn(line: string, { place }: Connection): readonly BulkAnswer[] {
  if (line.trim() === '') return [];
  const { custom_id: id, response } = parsed(line);
  if (typeof id !== 'string') return [];
  const { status_code: status, body } = response ?? {};
  if (status !== 200 || typeof body !== 'object' || body === null) return [{ id, answer: null }];
  try {
    return [{ id, answer: readChatAnswer(body, '', place).answer }];
  } catch {
    return [{ id, answer: null }];
  }
}

interface Line {
  readonly custom_id?: unknown;
  readonly response?: { readonly status_code?: unknown; readonly body?: unknown } | null;
}

function parsed(line: string): Line {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
