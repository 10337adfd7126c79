import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { EngineError } from '@slowwave/engine/storing';

/**
 * How a text is kept that is read as a whole or not at all: in a fraction of its bytes. What most of such texts have in common
 * (the names of fields, and what usually stands in them) is in a dictionary, and not in each of them.
 *
 * The first byte says how the rest is to be read: 0 as it is, 1 deflated with the first dictionary, 2 as UTF-16, for the few texts
 * with half of a pair, which UTF-8 has no place for. A dictionary is never changed once it is released, as what was packed with it
 * could not be read again: a better one is a second dictionary.
 */
export function packed(text: string): Buffer {
  if (!text.isWellFormed()) return laidOpen(text);
  const plain = Buffer.from(text);
  const deflated = deflateRawSync(plain, HOW);
  return deflated.length < plain.length ? Buffer.concat([DEFLATED_1, deflated]) : Buffer.concat([PLAIN, plain]);
}

/** The same for what is kept for seconds, and then packed with other things: to deflate it would be in vain. */
export function laidOpen(text: string): Buffer {
  return text.isWellFormed()
    ? Buffer.concat([PLAIN, Buffer.from(text)])
    : Buffer.concat([UTF_16, Buffer.from(text, 'utf16le')]);
}

export function unpacked(bytes: Uint8Array): string {
  const rest = bytes.subarray(1);
  if (bytes[0] === PLAIN[0]) return Buffer.from(rest).toString();
  if (bytes[0] === DEFLATED_1[0]) return inflateRawSync(rest, HOW).toString();
  if (bytes[0] === UTF_16[0]) return Buffer.from(rest).toString('utf16le');
  const problem = `expected a packed text of form 0 to 2, got ${bytes[0] ?? 'no bytes'}; a newer release wrote it`;
  throw new EngineError(problem, { code: 'internal', retryable: false });
}

const PLAIN = Buffer.of(0);
const DEFLATED_1 = Buffer.of(1);
const UTF_16 = Buffer.of(2);

/** What is there most often stands last. */
const DICTIONARY_1 = [
  // What a night does, and what the graph has understood
  '","seen":["","nextAt":null,"memories":"night":{"acts":[{"act":"conclude","merge","profile","certainty":"likely","slot":"',
  '"evidence":[{"memoryId":"mem_0","text":"","asks":false}],"graph":true,"variant":"can_0","rung":1',
  '{"statements":[{"kind":"holds","ended","never","same","source":"","relationship":"","destination":"","single":true,"entities":[{"name":"","kind":"person","aliases":[]',
  // What waits for a person, and what was refused
  '"held":[{"id":"rev_0","kind":"UPDATE","fact":"f0","factText":"","forgets":true,"topic":"","repeats":[{"after":"',
  '"remarks":[{"asked":"","did":"","attacks":[{"messageId":"msg_0","kinds":["',
  '"discards":[{"text":"","reason":"not said in the messages","same as another fact","small talk"}],',
  '"outcomes":[{"fact":"f0","outcome":"DROPPED","reason":"","wish":true,"about":["mem_0',
  // Figures
  '{"model":"gpt-4.1-mini","figures":{"repaired":{"part":0,"of":1},"unusable":{"part":0,"of":1},"facts_per_message":{"part":1,"of":2},',
  '"heard":{"part":1,"of":1},"heard_foreign":{"part":0,"of":0},"discarded":{"part":0,"of":1},"adds":{"part":1,"of":1},',
  '"updates":{"part":0,"of":1},"deletes":{"part":0,"of":1},"nones":{"part":0,"of":1},"dropped":{"part":0,"of":1},',
  '"targets_nearest":{"part":0,"of":0},"remarks":{"part":0,"of":1},"quotes_stand":{"part":1,"of":1},"quote_words":{"part":12,"of":1},',
  '"language_kept":{"part":1,"of":1},"dates_kept":{"part":0,"of":0},"dates_said":{"part":0,"of":0},"names_kept":{"part":0,"of":0},',
  '"names_apart":{"part":0,"of":0},"negations_kept":{"part":0,"of":0},"calls":{"part":2,"of":2},"prompt_tokens":{"part":3000,"of":2},',
  '"completion_tokens":{"part":120,"of":2},"thinking_ms":{"part":900,"of":2},"cost":{"part":0.0015,"of":2}}}',
  // Answers
  '{"there":true,"summary":"{"memories":[{"id":"0","text":"","event":"NONE","old_memory":"',
  '{"operations":[{"fact":"f0","event":"DELETE","id":"0","text":"","reason":"replaces","keep":false},{"fact":"f1","event":"UPDATE","id":"1","text":"","reason":"more precise","keep":true}]}',
  '{"operations":[{"fact":"f0","event":"NONE","id":"0","text":null,"reason":"already known","keep":true}]}',
  '{"operations":[{"fact":"f0","event":"ADD","id":null,"text":"User ","reason":"new","keep":true}]}',
  '{"facts":[{"text":"User likes ","source_ids":["m0"],"quote":"I like ","category":"preferences","language":"en","valid_from":"2026-11-28","about":"user"}]}',
  '{"facts":[{"text":"User ","source_ids":["m0"],"quote":"","about":"user","category":null,"language":null,"valid_from":null}]}',
  // Plans, from their beginning to their end
  '{"consolidationId":"con_01","round":1,"facts":[{"id":"f0","text":"The user is ","sourceIds":["msg_01"],"quote":"My ","category":"personal","language":"en",',
  '"about":"agent","trust":"assistant","saidAt":{"at":1795842,"seq":1},"validFrom":1795842,"utcOffset":60}],"discards":[],"candidates":[],"operations":[{',
  '{"memoryId":"mem_01","version":2,"revision":2,"text":"User has ","saidAt":{"at":1795842,"seq":1},"utcOffset":60,"standing":"former","immutable":false,"recalledBy":[{"fact":"f1","vector":null,"keyword":null}],"shortId":"10"},',
  '"category":null,"language":null,"about":"user","trust":"user","saidAt":{"at":1795842,"seq":1},"validFrom":1795842}],"discards":[],',
  '"candidates":[{"memoryId":"mem_01","version":1,"revision":1,"text":"User ","saidAt":{"at":1795842,"seq":1},"standing":"live","immutable":false,"recalledBy":[{"fact":"f0","vector":0.2,"keyword":0.03}],"shortId":"0"},',
  '"operations":[{"fact":"f0","event":"UPDATE","memoryId":"mem_01","revision":1,"before":"User ","after":"User ","reason":"no similar memory","decidedBy":"rule"}],',
  '"held":[],"outcomes":[{"fact":"f0","outcome":"UPDATE","reason":"no similar memory"}],"remarks":[],"events":[{"id":"evt_01","memoryId":"mem_01","revision":2,"kind":"UPDATE",',
  '"previous":"User ","operations":[{"fact":"f0","event":"ADD","memoryId":"mem_01","revision":0,"before":null,"after":"User ","reason":"new","decidedBy":"model"}],',
  '"held":[],"outcomes":[{"fact":"f0","outcome":"ADD","reason":"new"}],"remarks":[],"events":[{"id":"evt_01","memoryId":"mem_01","revision":1,"kind":"ADD",',
  '"actor":"consolidation","consolidationId":"con_01","factId":"f0","reason":"new","previous":null,"saidAt":{"at":1795842,"seq":1},"validFrom":1795842,"recordedAt":1795842,',
  '"text":"User ","details":{"category":null,"language":null,"about":"user","trust":"user","quote":"","sourceIds":["msg_01"],"metadata":{},"immutable":false,"expiresAt":null},',
  '"sourceIds":["msg_01"],"under":{"agentId":null,"runId":null,"appId":null}}],',
  '"prompts":[{"name":"extract_facts","version":"7","hash":"70a18756aa40fd4c56c510f2b0dc91e8071a502e052001b48bad9a8807357377"},',
  '{"name":"decide_operations","version":"5","hash":"19750de1f351cbed09c3931d343b5abfd8749c36d5a337cfdd7daae56ddf8ce2"}],',
  '"models":{"chat":"gpt-4.1-mini","embedder":"openai:text-embedding-3-small:1536"},"usage":{"calls":2,"promptTokens":3,"cachedTokens":1024,"completionTokens":12,',
  '"models":[{"model":"gpt-4.1-mini","calls":2,"promptTokens":3,"completionTokens":12,"cost":0.0015}]},"cost":0.0015,"timings":{"gather":1,"extract":7,"recall":14,"decide":4}}',
].join('');

/** A window of 16 KB holds the dictionary with what a text repeats of itself, and takes less memory to begin with than the usual one. */
const HOW = { dictionary: Buffer.from(DICTIONARY_1), windowBits: 14, memLevel: 6 };
