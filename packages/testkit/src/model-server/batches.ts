import type { IncomingMessage } from 'node:http';
import type { JsonObject } from '@slowwave/engine';
import { answerText, completion, countTokens, type Tokens } from './answering.ts';
import { promptText, readCall } from './reading.ts';
import { type HttpReply, refusal, type Script } from './script.ts';

/** A question that was answered in a batch, as the provider bills it. */
export interface BatchCall {
  readonly name: string;
  readonly request: JsonObject;
  readonly tokens: Tokens;
}

/** The batch API of the scripted model: files and batches, which end when a test says so. */
export interface Batches {
  /** Batches that were ever made, in their order, with how they stand. */
  readonly made: readonly { readonly id: string; readonly status: string; readonly questions: number }[];
  /** The names of the files there are. */
  files(): readonly string[];
  /** What was answered in batches, to be billed. */
  readonly bill: readonly BatchCall[];
  /** Answers all that are under way. */
  finish(): Promise<void>;
  /** Ends them without an answer. */
  fail(status: 'failed' | 'expired'): void;
}

interface Batch {
  readonly id: string;
  readonly file: string;
  readonly metadata: unknown;
  readonly lines: readonly JsonObject[];
  status: string;
  output: string | null;
}

interface File {
  readonly name: string;
  readonly text: string;
}

type Answer = (request: IncomingMessage, body: Buffer) => Promise<HttpReply | null>;

/** All there is of it. */
interface Shelf {
  readonly files: Map<string, File>;
  readonly batches: Batch[];
  readonly bill: BatchCall[];
  made: number;
}

/** Answers what is asked of files and batches; null: something else was. */
export function batchApi(script: () => Script): { readonly api: Batches; readonly answer: Answer } {
  const shelf: Shelf = { files: new Map(), batches: [], bill: [], made: 0 };
  const { files, batches, bill } = shelf;
  const underWay = (): Batch[] => batches.filter(({ status }) => status === 'in_progress');
  return {
    answer: async (request, body) => {
      const [, kind, id, verb] = new URL(request.url ?? '/', 'http://here').pathname.split('/').slice(1);
      const asked = { method: request.method ?? 'GET', id, verb };
      if (kind === 'files') return ofFiles(shelf, asked, { request, body });
      return kind === 'batches' ? ofBatches(shelf, asked, body) : null;
    },
    api: {
      get made() {
        return batches.map(({ id, status, lines }) => ({ id, status, questions: lines.length }));
      },
      bill,
      files: () => [...files.values()].map(({ name }) => name),
      finish: async () => {
        for (const batch of underWay()) {
          const lines = await Promise.all(batch.lines.map((line) => answered(shelf, script(), line)));
          batch.output = keep(shelf, { name: `${batch.id}-output.jsonl`, text: lines.join('\n') });
          batch.status = 'completed';
        }
      },
      fail: (status) => {
        for (const batch of underWay()) batch.status = status;
      },
    },
  };
}

interface AskedFor {
  readonly method: string;
  readonly id: string | undefined;
  readonly verb: string | undefined;
}

function keep(shelf: Shelf, file: File): string {
  shelf.made += 1;
  const id = `file-${shelf.made}`;
  shelf.files.set(id, file);
  return id;
}

async function answered({ bill }: Shelf, script: Script, line: JsonObject): Promise<string> {
  const request = line.body as JsonObject;
  const read = readCall(request);
  const reply = await script({ ...read, count: bill.length + 1 });
  const said = (status: number, body: object): string =>
    JSON.stringify({ custom_id: line.custom_id, response: { status_code: status, body } });
  if (!('json' in reply || 'text' in reply)) return said('status' in reply ? reply.status : 500, {});
  const text = answerText(reply);
  const tokens = { prompt: countTokens(promptText(request)), completion: countTokens(text) };
  bill.push({ name: read.name, request, tokens });
  return said(200, completion(request, { text, finish: 'stop', tokens }));
}

async function ofFiles(shelf: Shelf, { method, id, verb }: AskedFor, sent: Sent): Promise<HttpReply> {
  const { files } = shelf;
  if (id === undefined && method === 'POST') return uploaded(shelf, sent);
  if (id === undefined) return listOf([...files].map(([name, file]) => fileView(name, file)));
  const file = files.get(id);
  if (file === undefined) return refusal(404, { message: 'No such file.' });
  if (method === 'DELETE') return { status: 200, body: { id, object: 'file', deleted: files.delete(id) } };
  return { status: 200, body: verb === 'content' ? file.text : fileView(id, file) };
}

function ofBatches(shelf: Shelf, { method, id, verb }: AskedFor, body: Buffer): HttpReply {
  const { batches } = shelf;
  if (id === undefined && method === 'POST') return created(shelf, JSON.parse(body.toString()));
  if (id === undefined) return listOf(batches.map(batchView));
  const batch = batches.find((one) => one.id === id);
  if (batch === undefined) return refusal(404, { message: 'No such batch.' });
  if (verb === 'cancel' && batch.status !== 'in_progress')
    return refusal(409, { message: `Cannot cancel a batch that is ${batch.status}.` });
  if (verb === 'cancel') batch.status = 'cancelled';
  return { status: 200, body: batchView(batch) };
}

function created({ files, batches }: Shelf, body: JsonObject): HttpReply {
  const file = String(body.input_file_id);
  const text = files.get(file)?.text;
  if (text === undefined) return refusal(400, { message: 'No such file.' });
  const lines = text.split('\n').filter((line) => line !== '');
  const batch: Batch = {
    ...{ id: `batch_${batches.length + 1}`, file, metadata: body.metadata },
    ...{ lines: lines.map((line) => JSON.parse(line)), status: 'in_progress', output: null },
  };
  batches.push(batch);
  return { status: 200, body: batchView(batch) };
}

interface Sent {
  readonly request: IncomingMessage;
  readonly body: Buffer;
}

async function uploaded(shelf: Shelf, { request, body }: Sent): Promise<HttpReply> {
  const headers = { 'content-type': request.headers['content-type'] ?? '' };
  const form = await new Response(new Uint8Array(body), { headers }).formData();
  const file = form.get('file');
  if (!(file instanceof Blob)) return refusal(400, { message: 'A file is required.' });
  const kept = { name: 'name' in file ? String(file.name) : 'file', text: await file.text() };
  return { status: 200, body: fileView(keep(shelf, kept), kept) };
}

const fileView = (id: string, { name, text }: File) => ({
  ...{ id, object: 'file', filename: name, bytes: text.length, created_at: 0, purpose: 'batch', status: 'processed' },
});

const batchView = ({ id, file, metadata, status, output }: Batch) => ({
  ...{ id, object: 'batch', endpoint: '/v1/chat/completions', input_file_id: file, completion_window: '24h', status },
  ...{ output_file_id: output, error_file_id: null, created_at: 0, metadata },
});

const listOf = (data: readonly object[]): HttpReply => ({
  status: 200,
  body: { object: 'list', data, has_more: false, first_id: null, last_id: null },
});
