import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { COSTLY_BODIES, type CostlyBody } from './costly-bodies.ts';

/** What a body cost the server, less an empty one that is refused, beside what reading its bytes costs in any case. */
interface Cost {
  readonly what: string;
  readonly route: string;
  readonly bytes: number;
  readonly status: number;
  readonly cpuMs: number;
  /** JSON.parse of the same bytes, here. */
  readonly parseMs: number;
  readonly ratio: number;
}

/** A body as it is sent. */
interface Sent extends CostlyBody {
  readonly bytes: Buffer;
}

export interface Costs {
  /** Those that are refused, costliest first. */
  readonly refused: readonly Cost[];
  /** Batches that are taken, smallest first. */
  readonly taken: readonly Cost[];
  readonly findings: readonly string[];
}

interface Server {
  readonly url: string;
  readonly apiKey: string;
  readonly pid: number;
}

/** How often what is refused may cost what parsing it does. */
const RATIO_MAX = 3;
/** How much more a byte of a large batch may cost than one of a batch half as large. */
const GROWTH_MAX = 1.2;
/**
 * Each is measured so often, in turn with what it is compared with, and the least of each counts: all else is what the
 * machine did meanwhile. What seems to cost too much then is measured more often: on a busy machine the least comes late.
 */
const ROUNDS = 6;
const ROUNDS_IN_DOUBT = 24;
/** Bytes sent in one round, so that small bodies are measured as well as large ones. */
const ROUND_BYTES = 8_000_000;
const SENT_MAX = 40;
/** A process counts as at rest when it has used less than this, in ms, in the time of one look to the next. */
const REST_MS = 0.2;
const LOOK_MS = 4;
const LOOKS_MAX = 25;

/** What the costliest bodies cost in processor time of the server, which has nothing else to do meanwhile. */
export async function costs(server: Server): Promise<Costs> {
  await letAllWait(server);
  const refused: Cost[] = [];
  for (const body of COSTLY_BODIES) refused.push(await costOf(server, body));
  const taken: Cost[] = [];
  for (const body of BATCHES) taken.push(await costOf(server, body));
  refused.sort((a, b) => b.ratio - a.ratio);
  return { refused, taken, findings: [...refused.flatMap(mistakesOf), ...growth(taken)] };
}

export function textOfCosts({ refused, taken, findings }: Costs): string {
  const line = ({ what, route, bytes, status, cpuMs, parseMs, ratio }: Cost): string =>
    `  ${ratio.toFixed(1).padStart(5)} x  ${cpuMs.toFixed(1).padStart(7)} ms, ${parseMs.toFixed(1)} ms to parse  ` +
    `${status} ${route}: ${what}, ${Math.round(bytes / KB)} KB`;
  return [
    'processor time of the server, beside that of parsing the same bytes; the ten costliest bodies that are refused:',
    ...refused.slice(0, SHOWN).map(line),
    'batches that are taken:',
    ...taken.map((cost) => `${line(cost)}, ${perByte(cost).toFixed(1)} ns a byte`),
    ...findings.map((finding) => `finding: ${finding}`),
    '',
  ].join('\n');
}

/** Half of its letters are escapes, so that the largest batch has fewer tokens than make a lane due at once. */
const TEXT = '\\u0074ea\\u0020and ';
/** What is posted is for somebody new each time: with all of it one lane would be due. */
const OWNER = '{"user_id":"costs-';
const OWNER_DIGITS = 8;
let owners = 0;

const SHOWN = 10;
const KB = 1_000;
const MILLION = 1e6;

const perByte = ({ cpuMs, bytes }: Cost): number => (cpuMs * MILLION) / bytes;

function mistakesOf({ what, route, status, ratio }: Cost): string[] {
  if (status < 400 || status >= 500) return [`${route}: ${what}: expected it to be refused, got status ${status}`];
  return ratio > RATIO_MAX ? [`${route}: ${what}: costs ${ratio.toFixed(1)} times what parsing it does`] : [];
}

/** Each against the one before, which is half as large. */
const growth = (taken: readonly Cost[]): string[] =>
  taken.flatMap((cost, i) => {
    const smaller = taken[i - 1];
    if (cost.status >= 300) return [`${cost.what}: expected it to be taken, got status ${cost.status}`];
    const grown = smaller === undefined ? 1 : perByte(cost) / perByte(smaller);
    return grown > GROWTH_MAX ? [`${cost.what}: a byte costs ${grown.toFixed(2)} times that of one half as large`] : [];
  });

const MIB = 1_048_576;
/** Bytes of a batch beside the texts of its messages; and of each message beside its text. */
const AROUND = 100;
const MESSAGES = 2_000;
const AROUND_MESSAGE = 30;

/** Up to the largest that is taken. */
const BATCHES: readonly CostlyBody[] = [1, 2, 4, 8].map((size) => {
  const length = Math.floor((size * MIB - AROUND) / MESSAGES) - AROUND_MESSAGE;
  const content = TEXT.repeat(Math.floor(length / TEXT.length)).padEnd(length, ' ');
  const messages = `{"role":"user","content":"${content}"},`.repeat(MESSAGES).slice(0, -1);
  return {
    what: `${MESSAGES} messages in ${size} MiB`,
    route: 'POST /v1/batches',
    text: `${OWNER}00000000","messages":[${messages}]}`,
  };
});

const HOUR_MS = 3_600_000;
/** What is posted is not worked on while it is measured. */
const LATER = { tokens: 1_000_000, idle_ms: HOUR_MS, max_age_ms: HOUR_MS };

async function letAllWait(server: Server): Promise<void> {
  const text = JSON.stringify({ due: LATER });
  const status = await sent(server, { what: 'settings', route: 'PUT /v1/settings', text, bytes: Buffer.from(text) });
  if (status !== 200) throw new Error(`expected PUT /v1/settings to be taken, got status ${status}`);
}

const NOTHING: Sent = { what: 'nothing', route: 'POST /v1/flush', text: '{}', bytes: Buffer.from('{}') };

async function costOf(server: Server, body: CostlyBody): Promise<Cost> {
  const sending: Sent = { ...body, bytes: Buffer.from(body.text) };
  const { length } = sending.bytes;
  const times = Math.max(1, Math.min(SENT_MAX, Math.floor(ROUND_BYTES / length)));
  const status = await sent(server, sending); // once for the code that was not run yet
  const least = { parse: Number.POSITIVE_INFINITY, nothing: Number.POSITIVE_INFINITY, body: Number.POSITIVE_INFINITY };
  const ratio = (): number => Math.max(0, least.body - least.nothing) / least.parse;
  for (let round = 0; round < ROUNDS || (round < ROUNDS_IN_DOUBT && ratio() > RATIO_MAX && status >= 400); round += 1) {
    const nothing = await cpuOfSending(server, NOTHING, SENT_MAX);
    const { sent: ofBody, parsed: parse } = await cpuOfSending(server, sending, times);
    least.nothing = Math.min(least.nothing, nothing.sent);
    least.body = Math.min(least.body, ofBody);
    least.parse = Math.min(least.parse, parse);
  }
  const { what, route } = body;
  const cpuMs = Math.max(0, least.body - least.nothing);
  return { what, route, bytes: length, status, cpuMs, parseMs: least.parse, ratio: ratio() };
}

/**
 * Of one, in ms: what it cost the server, and what parsing it costs here. Both are done in turn, so that here too each is
 * parsed after other work: over and over again the same bytes are parsed faster than any server parses what has just come.
 */
async function cpuOfSending(server: Server, body: Sent, times: number): Promise<{ sent: number; parsed: number }> {
  const before = await cpuAtRest(server.pid);
  let parsing = 0;
  for (let i = 0; i < times; i += 1) {
    await sent(server, body);
    parsing += cpuOfParsing(body);
  }
  return { sent: ((await cpuAtRest(server.pid)) - before) / times, parsed: parsing / times };
}

/** Processor time of the server once it has ended what follows its answers. */
async function cpuAtRest(pid: number): Promise<number> {
  let cpu = cpuOf(pid);
  for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
    await sleep(LOOK_MS);
    const before = cpu;
    cpu = cpuOf(pid);
    if (cpu - before < REST_MS) return before;
  }
  return cpu;
}

/** In ms. */
function cpuOfParsing({ bytes, type }: Sent): number {
  const before = process.cpuUsage();
  parsed(bytes, type);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / KB;
}

/** A form has nothing to parse: it is read as one text. */
function parsed(bytes: Buffer, type: string | undefined): void {
  try {
    JSON.parse(type === undefined ? bytes.toString() : JSON.stringify(bytes.toString()));
  } catch {
    // What is no JSON is read until that is seen.
  }
}

async function sent(server: Server, body: Sent): Promise<number> {
  if (body.text.startsWith(OWNER)) {
    owners += 1;
    body.bytes.write(String(owners).padStart(OWNER_DIGITS, '0'), OWNER.length);
  }
  const [method = '', path = ''] = body.route.split(' ');
  const headers = {
    authorization: `Bearer ${server.apiKey}`,
    'content-type': body.type ?? 'application/json',
    'sec-fetch-site': 'same-origin',
  };
  const answer = await fetch(`${server.url}${path}`, {
    method,
    headers,
    redirect: 'manual',
    body: body.bytes,
  });
  await answer.arrayBuffer();
  return answer.status;
}

const NANOSECONDS = 1e6;

/** Processor time of all threads of a process, in ms; as Linux shows it. */
function cpuOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const spent = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return spent.reduce((sum, one) => sum + one, 0) / NANOSECONDS;
}
