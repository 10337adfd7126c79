import { readdirSync, readFileSync } from 'node:fs';
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
/** Each is measured so often, and the least counts: all else is what the machine did meanwhile. */
const ROUNDS = 3;
/** Bytes sent in one round, so that small bodies are measured as well as large ones. */
const ROUND_BYTES = 8_000_000;
const SENT_MAX = 40;

/** What the costliest bodies cost in processor time of the server, which has nothing else to do meanwhile. */
export async function costs(server: Server): Promise<Costs> {
  await letAllWait(server);
  const empty = await costOf(server, { what: 'nothing', route: 'POST /v1/flush', text: '{}' }, 0);
  const refused: Cost[] = [];
  for (const body of COSTLY_BODIES) refused.push(await costOf(server, body, empty.cpuMs));
  const taken: Cost[] = [];
  for (const body of BATCHES) taken.push(await costOf(server, body, empty.cpuMs));
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

/** The largest is as large as it can be before it is consolidated at once, which would be measured with it. */
const BATCHES: readonly CostlyBody[] = [225, 450, 900, 1_800].map((length, i) => ({
  what: `2,000 messages of ${length} characters`,
  route: 'POST /v1/batches',
  text: JSON.stringify({
    user_id: `costs-${i}`,
    messages: Array.from({ length: 2_000 }, (_, n) => ({ role: 'user', content: `${n} `.padEnd(length, 'tea and ') })),
  }),
}));

const HOUR_MS = 3_600_000;
/** What is posted is not worked on while it is measured. */
const LATER = { tokens: 1_000_000, idle_ms: HOUR_MS, max_age_ms: HOUR_MS };

async function letAllWait(server: Server): Promise<void> {
  const text = JSON.stringify({ due: LATER });
  const status = await sent(server, { what: 'settings', route: 'PUT /v1/settings', text });
  if (status !== 200) throw new Error(`expected PUT /v1/settings to be taken, got status ${status}`);
}

async function costOf(server: Server, body: CostlyBody, emptyMs: number): Promise<Cost> {
  const bytes = Buffer.from(body.text);
  const times = Math.max(1, Math.min(SENT_MAX, Math.floor(ROUND_BYTES / bytes.length)));
  let [cpuMs, parseMs, status] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, 0];
  for (let round = 0; round < ROUNDS; round += 1) {
    const [before, own] = [cpuOf(server.pid), process.cpuUsage()];
    for (let i = 0; i < times; i += 1) parsed(bytes, body.type);
    const { user, system } = process.cpuUsage(own);
    parseMs = Math.min(parseMs, (user + system) / KB / times);
    const idle = cpuOf(server.pid);
    for (let i = 0; i < times; i += 1) status = await sent(server, { ...body, bytes });
    cpuMs = Math.min(cpuMs, (cpuOf(server.pid) - Math.max(before, idle)) / times);
  }
  const cost = Math.max(0, cpuMs - emptyMs);
  return {
    what: body.what,
    route: body.route,
    bytes: bytes.length,
    status,
    cpuMs: cost,
    parseMs,
    ratio: cost / parseMs,
  };
}

/** A form has nothing to parse: it is read as one text. */
function parsed(bytes: Buffer, type: string | undefined): void {
  try {
    JSON.parse(type === undefined ? bytes.toString() : JSON.stringify(bytes.toString()));
  } catch {
    // What is no JSON is read until that is seen.
  }
}

async function sent(server: Server, body: CostlyBody & { readonly bytes?: Buffer }): Promise<number> {
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
    body: body.bytes ?? body.text,
  });
  await answer.arrayBuffer();
  return answer.status;
}

const NANOSECONDS = 1e6;

/** Processor time of all threads of a process, in ms; as Linux tells it. */
function cpuOf(pid: number): number {
  const tasks = readdirSync(`/proc/${pid}/task`);
  const spent = tasks.map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]));
  return spent.reduce((sum, one) => sum + one, 0) / NANOSECONDS;
}
