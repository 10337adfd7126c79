import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { digitsOf, EngineError, ID_ALPHABET, numberOf } from '@slowwave/engine/storing';
import { numberAt, packedNumber } from '../receipts.ts';
import { sha256 } from './columns.ts';

/**
 * How a record is kept that is mostly ids, numbers, and a few texts that it says again and again: apart from its shape, which is nearly
 * the same for all of them. In its JSON a control character, which no JSON has, stands for each of them:
 *
 *   ids      their kind stays. Five bytes by which they are found stand at the beginning; the others say what time had passed since the
 *            record's own id was made, and what tells apart what was made in one moment
 *   hashes   of 32 hexadecimal digits: 16 bytes
 *   numbers  in as few bytes as they need, and as the place of the same number before
 *   texts    behind the shape, each once
 *
 * So the bytes are: the form, how many are found, their bytes, the length of what else was taken out, that, and the rest, deflated with a
 * dictionary of usual shapes. A dictionary is never changed once it is released: a better one is another form.
 */
export function packedRecord(record: unknown, self: string, found: readonly string[] = []): Buffer {
  const taken = new Taken(self);
  const shape = JSON.stringify(record).replace(TOKENS, (token) => taken.out(token));
  const marks = [...taken.marks, ...found.filter((id) => digitsIn(id) === null).map(markOf)];
  const bytes = Buffer.concat(taken.bytes);
  return Buffer.concat([
    Buffer.of(FORM),
    packedNumber(marks.length),
    ...marks,
    packedNumber(bytes.length),
    bytes,
    deflateRawSync([shape, ...taken.texts].join(BETWEEN), HOW),
  ]);
}

export function unpackedRecord(packed: Uint8Array, self: string): unknown {
  if (packed[0] !== FORM) {
    const problem = `expected a packed record of form ${FORM}, got ${packed[0] ?? 'no bytes'}; a newer release wrote it`;
    throw new EngineError(problem, { code: 'internal', retryable: false });
  }
  const marks = numberAt(packed, 1);
  const length = numberAt(packed, marks.next + marks.value * MARK_BYTES);
  const end = length.next + length.value;
  const [shape = '', ...texts] = inflateRawSync(packed.subarray(end), HOW).toString().split(BETWEEN);
  const given = new Given(self, {
    marks: packed.subarray(marks.next),
    bytes: packed.subarray(length.next, end),
    texts,
  });
  return JSON.parse(shape.replace(PLACES, (place) => given.at(place)));
}

/** The five bytes that stand in a record which names this id. */
export function markOf(id: string): Buffer {
  const digits = digitsIn(id);
  return digits === null
    ? Buffer.from(sha256(id).slice(0, 2 * MARK_BYTES), 'hex')
    : markBytes(markedIn(partsOf(digits)));
}

const FORM = 1;
const BETWEEN = '\x1f';
const MARK_BYTES = 5;
/** Strings, names of fields with their colon, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*":?|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const DIGITS = new RegExp(`^([a-z]+_)([${ID_ALPHABET}]{26})$`);
const HASH = /^"[0-9a-f]{32}"$/;
/** A string that a shape may have, as it is short or usual. */
const WORD = /^"(?:[\w.:-]*|.{0,9})"$/;

const digitsIn = (id: string): string | null => DIGITS.exec(id)?.[2] ?? null;

const [NEW_ID, SAME_ID, NEW_TEXT, SAME_TEXT, NUMBER, HASHED] = ['\x01', '\x02', '\x03', '\x04', '\x05', '\x06'];
const PLACES = new RegExp(`[${NEW_ID}${NEW_TEXT}${NUMBER}${HASHED}]|[${SAME_ID}${SAME_TEXT}].`, 'gs');
/** What was there before is named by one visible character; what comes later than so many is new again. */
const [FIRST_NAME, NAMES_MAX] = [0x28, 80];
const nameOf = (place: number): string => String.fromCharCode(FIRST_NAME + place);
const placeIn = (named: string): number => named.charCodeAt(1) - FIRST_NAME;

/** An id as four numbers: 50 bits of time, 20 of the count, 20 of the owner with its random bits, 40 random ones. */
interface Parts {
  readonly time: number;
  readonly count: number;
  readonly owner: number;
  readonly random: number;
}

const partsOf = (digits: string): Parts => ({
  time: numberOf(digits.slice(0, 10)),
  count: numberOf(digits.slice(10, 14)),
  owner: numberOf(digits.slice(14, 18)),
  random: numberOf(digits.slice(18)),
});

const BITS_20 = 2 ** 20;
const OWN_RANDOM = 16;

/** The random bits, and with them those of time and count that change: either alone would do. */
function markedIn({ time, count, random }: Parts): number {
  const high = Math.floor(random / BITS_20) ^ (time % BITS_20);
  return high * BITS_20 + ((random % BITS_20) ^ count);
}

/** The same mark of the random bits gives them back. */
const randomIn = (marked: number, { time, count }: Pick<Parts, 'time' | 'count'>): number =>
  markedIn({ time, count, owner: 0, random: marked });

function markBytes(marked: number): Buffer {
  const bytes = Buffer.alloc(MARK_BYTES);
  bytes.writeUIntBE(marked, 0, MARK_BYTES);
  return bytes;
}

/** A whole number, however far it is from zero. */
const outOf = (number: number): number => (number >= 0 ? number * 2 : -number * 2 - 1);
const backFrom = (value: number): number => (value % 2 === 0 ? value / 2 : -(value + 1) / 2);

/** What the two lowest bits of a number say of the others: its place among those before, or what it is. */
const [BEFORE, WHOLE, SINCE, DECIMAL] = [0, 1, 2, 3];
const WAYS = 4;
const LARGEST = 2 ** 50;
/** Shorter numbers are no longer than their places would be. */
const REMEMBERED = 32;
const DIGITS_AFTER = 16;
const LARGEST_DECIMAL = 2 ** 46;
const DECIMALS = /^(\d+)\.(\d{1,15})$/;

/** What is taken out of a record while its tokens are read one after the other. */
class Taken {
  readonly marks: Buffer[] = [];
  readonly bytes: Uint8Array[] = [];
  readonly texts: string[] = [];
  readonly #self: Parts;
  readonly #ids: Map<string, number>;
  readonly #texts = new Map<string, number>();
  readonly #numbers = new Map<string, number>();

  constructor(self: string) {
    const digits = digitsIn(self) ?? NO_DIGITS;
    this.#self = partsOf(digits);
    this.#ids = new Map([[digits, 0]]);
  }

  out(token: string): string {
    if (token.endsWith(':')) return token;
    if (!token.startsWith('"')) return this.#number(token);
    const id = DIGITS.exec(token.slice(1, -1));
    if (id !== null) return `"${id[1]}${this.#id(id[2] ?? '')}"`;
    if (HASH.test(token)) {
      this.bytes.push(Buffer.from(token.slice(1, -1), 'hex'));
      return HASHED;
    }
    return WORD.test(token) ? token : this.#text(token);
  }

  #id(digits: string): string {
    const before = this.#ids.get(digits);
    if (before !== undefined && before < NAMES_MAX) return SAME_ID + nameOf(before);
    this.#ids.set(digits, this.#ids.size);
    const id = partsOf(digits);
    const isOwn = ownerIn(id) === ownerIn(this.#self);
    const rest = Buffer.alloc(isOwn ? 3 : 5);
    rest.writeUIntBE(id.count * OWN_RANDOM + (id.owner % OWN_RANDOM), 0, 3);
    if (!isOwn) rest.writeUIntBE(ownerIn(id), 3, 2);
    this.marks.push(markBytes(markedIn(id)));
    this.bytes.push(packedNumber(outOf(id.time - this.#self.time) * 2 + (isOwn ? 0 : 1)), rest);
    return NEW_ID;
  }

  #text(token: string): string {
    const before = this.#texts.get(token);
    if (before !== undefined && before < NAMES_MAX) return SAME_TEXT + nameOf(before);
    this.#texts.set(token, this.texts.length);
    this.texts.push(token);
    return NEW_TEXT;
  }

  #number(token: string): string {
    if (token === '0' || token === '1') return token;
    const before = this.#numbers.get(token);
    if (before !== undefined) {
      this.bytes.push(packedNumber(before * WAYS + BEFORE));
      return NUMBER;
    }
    const value = this.#valueOf(token);
    if (value === null) return this.#text(token);
    if (value >= REMEMBERED * WAYS) this.#numbers.set(token, this.#numbers.size);
    this.bytes.push(packedNumber(value));
    return NUMBER;
  }

  /** null: it is none of those that are usual. */
  #valueOf(token: string): number | null {
    const number = Number(token);
    const decimals = DECIMALS.exec(token);
    if (decimals !== null) {
      const digits = Number(`${decimals[1]}${decimals[2]}`);
      const after = decimals[2]?.length ?? 0;
      return digits < LARGEST_DECIMAL ? (digits * DIGITS_AFTER + after) * WAYS + DECIMAL : null;
    }
    if (String(number) !== token || !Number.isInteger(number) || number < 0 || number >= LARGEST) return null;
    const since = outOf(number - this.#self.time);
    return since < number ? since * WAYS + SINCE : number * WAYS + WHOLE;
  }
}

const NO_DIGITS = '0'.repeat(26);
const ownerIn = ({ owner }: Parts): number => Math.floor(owner / OWN_RANDOM);

interface TakenOut {
  readonly marks: Uint8Array;
  readonly bytes: Uint8Array;
  readonly texts: readonly string[];
}

/** Gives it back, in the same order. */
class Given {
  readonly #self: Parts;
  readonly #ids: string[];
  readonly #texts: string[] = [];
  readonly #numbers: string[] = [];
  readonly #marks: Buffer;
  readonly #bytes: Buffer;
  readonly #left: string[];
  #markAt = 0;
  #byteAt = 0;

  constructor(self: string, { marks, bytes, texts }: TakenOut) {
    const digits = digitsIn(self) ?? NO_DIGITS;
    this.#self = partsOf(digits);
    this.#ids = [digits];
    this.#marks = bufferOf(marks);
    this.#bytes = bufferOf(bytes);
    this.#left = texts.toReversed();
  }

  at(place: string): string {
    switch (place[0]) {
      case NEW_ID:
        return this.#id();
      case SAME_ID:
        return this.#ids[placeIn(place)] ?? '';
      case NEW_TEXT:
        return this.#text();
      case SAME_TEXT:
        return this.#texts[placeIn(place)] ?? '';
      case NUMBER:
        return this.#number();
      default:
        return `"${this.#next(HASH_BYTES).toString('hex')}"`;
    }
  }

  #next(length: number): Buffer {
    this.#byteAt += length;
    return this.#bytes.subarray(this.#byteAt - length, this.#byteAt);
  }

  #varied(): number {
    const { value, next } = numberAt(this.#bytes, this.#byteAt);
    this.#byteAt = next;
    return value;
  }

  #id(): string {
    const head = this.#varied();
    const rest = this.#next(3).readUIntBE(0, 3);
    const owner = head % 2 === 0 ? ownerIn(this.#self) : this.#next(2).readUIntBE(0, 2);
    const when = { time: backFrom(Math.floor(head / 2)) + this.#self.time, count: Math.floor(rest / OWN_RANDOM) };
    const marked = this.#marks.readUIntBE(this.#markAt, MARK_BYTES);
    this.#markAt += MARK_BYTES;
    const digits = [
      digitsOf(when.time, 10),
      digitsOf(when.count, 4),
      digitsOf(owner * OWN_RANDOM + (rest % OWN_RANDOM), 4),
      digitsOf(randomIn(marked, when), 8),
    ].join('');
    this.#ids.push(digits);
    return digits;
  }

  #text(): string {
    const text = this.#left.pop() ?? '';
    this.#texts.push(text);
    return text;
  }

  #number(): string {
    const value = this.#varied();
    const [way, rest] = [value % WAYS, Math.floor(value / WAYS)];
    if (way === BEFORE) return this.#numbers[rest] ?? '';
    const number = this.#whole(way, rest);
    if (value >= REMEMBERED * WAYS) this.#numbers.push(number);
    return number;
  }

  #whole(way: number, rest: number): string {
    if (way === WHOLE) return String(rest);
    if (way === SINCE) return String(backFrom(rest) + this.#self.time);
    const after = rest % DIGITS_AFTER;
    const digits = String(Math.floor(rest / DIGITS_AFTER)).padStart(after + 1, '0');
    return `${digits.slice(0, -after)}.${digits.slice(-after)}`;
  }
}

const HASH_BYTES = 16;
const bufferOf = (bytes: Uint8Array): Buffer => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

/**
 * What shapes of records usually have in them, as they are packed here: of consolidations that have ended, first what they
 * seldom say, then a whole one. What is there most often stands last. Never changed once it is released.
 */
const SELDOM = [
  '"night":{"acts":[],"seen":[],"nextAt":null,"memories":\x05}',
  '"held":[{"id":"rev_\x01","kind":"UPDATE","fact":"f0","factText":\x04(,"memoryId":"mem_\x02*","before":\x03,"after":\x04(,"forgets":true,"repeats":[]',
  '"remarks":[{"asked":\x03,"did":\x03}],"attacks":[{"messageId":"msg_\x02)","kinds":["',
  '"discards":[{"text":\x03,"reason":\x03}],"outcomes":[{"fact":"f0","outcome":"DROPPED","reason":\x03,"wish":true,"about":["mem_\x02*"]',
  '"graph":true,"variant":"can_\x01","rung":1,"extract":"gpt-4.1-mini","decide":"gpt-4.1","step":"graph:extract","answer":{"entities":[],"relations":[]}',
  '"step":"repair","cause":"repair","cause":"retry","truncated":1,"former":"con_\x01","about":"agent","trust":"assistant","utcOffset":\x05',
  '"operations":[{"fact":"f0","event":"DELETE","memoryId":"mem_\x02*","revision":1,"before":\x03,"after":null,"reason":\x03,"decidedBy":"model"}',
  '"operations":[{"fact":"f0","event":"NONE","memoryId":"mem_\x02*","revision":1,"before":\x04),"after":\x04),"reason":"known","decidedBy":"guard"}',
  '{"fact":"f1","event":"UPDATE","memoryId":"mem_\x02*","revision":1,"before":\x03,"after":\x04*,"reason":\x03,"decidedBy":"model"}',
  '{"fact":"f0","event":"DELETE","id":"0","text":null,"reason":\x04*,"keep":false},{"fact":"f1","event":"UPDATE","id":"1","text":\x04*,"reason":\x04+,"keep":true}',
  '"kind":"UPDATE","previous":\x04),"standing":"former","standing":"deleted","version":\x05,"revision":\x05,"text":\x03,"saidAt":{"at":\x05,"seq":\x05},"shortId":"10"',
].join('');

interface Asked {
  readonly step: 'extract' | 'decide';
  readonly answer: string;
}

const FOUND: Asked = {
  step: 'extract',
  answer:
    '"facts":[{"text":\x04(,"source_ids":["m0"],"quote":\x04(,"about":"user","category":null,"language":null,"valid_from":null}]',
};
const DECIDED: Asked = {
  step: 'decide',
  answer: '"operations":[{"fact":"f0","event":"ADD","id":null,"text":\x04(,"reason":"new","keep":true}]',
};

const answered = ({ step, answer }: Asked): string =>
  `{"step":"${step}","input_hash":\x06,"truncated":0,"model":"gpt-4.1-mini","prompt_tokens":\x05,"cached_tokens":0,"completion_tokens":\x05,"at":\x05,"former":null,"answer":{${answer}}}`;
const charged = ({ step }: Asked): string =>
  `{"id":"cal_\x01","app_id":null,"key_id":null,"step":"${step}","cause":"live","model":"gpt-4.1-mini","state":"answered","prompt_tokens":\x05,"cached_tokens":0,"completion_tokens":\x05,"cost":\x05,"took_ms":\x05,"at":\x05}`;
const shown = (keyword: string): string =>
  `{"memoryId":"mem_\x01","version":1,"revision":1,"standing":"live","immutable":false,"recalledBy":[{"fact":"f0","vector":\x05,"keyword":${keyword}}]}`;

const PROMPTS = [
  '{"name":"extract_facts","version":"7","hash":"70a18756aa40fd4c56c510f2b0dc91e8071a502e052001b48bad9a8807357377"}',
  '{"name":"decide_operations","version":"5","hash":"19750de1f351cbed09c3931d343b5abfd8749c36d5a337cfdd7daae56ddf8ce2"}',
];

interface Typical {
  readonly asked: readonly Asked[];
  readonly reason: readonly [first: string, again: string];
  readonly decidedBy: 'rule' | 'model';
  readonly calls: string;
  readonly cost: readonly [first: string, again: string];
  readonly seen: readonly string[];
}

/** One fact, which is new. */
const typical = ({ asked, reason, decidedBy, calls, cost, seen }: Typical): string =>
  [
    '{"plans":[{"round":1,"facts":[{"id":"f0","text":\x03,"sourceIds":["msg_\x01"],"quote":\x04(,"category":null,"language":null,',
    '"about":"user","trust":"user","saidAt":{"at":\x05,"seq":\x05},"validFrom":\x05}],"discards":[],',
    `"operations":[{"fact":"f0","event":"ADD","memoryId":"mem_\x01","revision":0,"before":null,"after":\x04(,"reason":${reason[0]},"decidedBy":"${decidedBy}"}],`,
    `"held":[],"outcomes":[{"fact":"f0","outcome":"ADD","reason":${reason[1]}}],"remarks":[],`,
    '"events":[{"memoryId":"mem_\x02*","revision":1,"kind":"ADD","actor":"consolidation","consolidationId":"con_\x02(",',
    `"factId":"f0","reason":${reason[1]},"previous":null,"saidAt":{"at":\x05,"seq":\x05},"validFrom":\x05,"recordedAt":\x05,"text":\x04(,`,
    '"details":{"category":null,"language":null,"about":"user","trust":"user","quote":\x04(,"sourceIds":["msg_\x02)"],"metadata":{},',
    '"immutable":false,"expiresAt":null},"sourceIds":["msg_\x02)"],"under":{"agentId":null,"runId":null,"appId":null}}],',
    `"prompts":[${PROMPTS.slice(0, asked.length).join(',')}],"models":{"chat":"gpt-4.1-mini","embedder":"openai:text-embedding-3-small:1536"},`,
    `"usage":{"calls":${calls},"promptTokens":\x05,"completionTokens":\x05,"models":[{"model":"gpt-4.1-mini","calls":${calls},"promptTokens":\x05,"completionTokens":\x05,"cost":${cost[0]}}]},`,
    `"cost":${cost[1]},"timings":{"gather":1,"extract":\x05,"recall":\x05,"decide":${decidedBy === 'rule' ? '0' : '\x05'}}}],"shown":[[${seen.join(',')}]],`,
    `"answers":[${asked.map(answered).join(',')}],"calls":[${asked.map(charged).join(',')}]}`,
  ].join('');

const BY_RULE = typical({
  ...{ asked: [FOUND], reason: ['\x03', '\x04)'], decidedBy: 'rule', calls: '1', cost: ['\x03', '\x04*'], seen: [] },
});
const BY_MODEL = typical({
  ...{ asked: [FOUND, DECIDED], reason: ['"new"', '"new"'], decidedBy: 'model', calls: '\x05', cost: ['\x05', '\x05'] },
  seen: [...Array(2).fill(shown('null')), ...Array(10).fill(shown('\x05'))],
});

const TYPICAL_SHAPES = [SELDOM, BY_RULE, BY_MODEL, '\x1f"no similar memory"\x1f"User '].join('');

/** A window of 16 KB holds the dictionary with what a record repeats. */
const HOW = { dictionary: Buffer.from(TYPICAL_SHAPES), windowBits: 14, memLevel: 6 };
