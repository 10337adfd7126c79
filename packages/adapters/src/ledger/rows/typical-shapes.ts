/**
 * What shapes of records usually have in them, as packed-record.ts leaves them: of consolidations that have ended, first what they
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

export const TYPICAL_SHAPES = [SELDOM, BY_RULE, BY_MODEL, '\x1f"no similar memory"\x1f"User '].join('');
