import { type Cancellation, type ChatAnswer, type ChatCall, type ChatModel, estimateTokens } from '@slowwave/engine';
import { readChatAnswer } from './answer.ts';
import { connect, exchange, type OpenaiOptions } from './client.ts';
import { type Complaint, isUnexplained, rejection, unquoted } from './failure.ts';
import { combine, type KnownManners, knownManners, type Manners, withLesserFormat, withoutRefused } from './manners.ts';
import { chatRequest } from './request.ts';

export interface ChatOptions extends OpenaiOptions {
  /** What the server is known to take. Missing: to be found out, once for the life of the process. */
  readonly manners?: KnownManners;
}

/** A chat model behind any OpenAI-compatible API. */
export function openaiChat(options: ChatOptions): ChatModel {
  const { client, place } = connect(options);
  const { manners = knownManners() } = options;
  // What it refuses after an answer, it refuses for another reason than the form that is asked for.
  let hasAnswered = false;

  const sent = async (call: ChatCall, tried: Manners, cancel: Cancellation): Promise<ChatAnswer | Complaint> => {
    const request = chatRequest(options.model, call, tried);
    const outcome = await exchange({ place, cancel }, (signal) => client.chat.completions.create(request, { signal }));
    if ('complaint' in outcome) return outcome.complaint;
    const answer = readChatAnswer(outcome.body, promptOf(call), place);
    hasAnswered = true;
    return logged(options, call, answer);
  };

  // null: nothing less would do. A first question may be refused for its form without a word about it.
  const lesserThan = (tried: Manners, said: Complaint, isFirst: boolean): Manners | null => {
    const lesser = withoutRefused(tried, said);
    if (lesser !== null) manners.learn(lesser);
    if (lesser !== null || hasAnswered || !isFirst || !isUnexplained(said)) return lesser;
    return withLesserFormat(tried);
  };

  const ask: ChatModel['ask'] = async (call, cancel) => {
    let tried = manners.now();
    for (let isFirst = true; ; isFirst = false) {
      const said = await sent(call, tried, cancel);
      if (!('status' in said)) {
        manners.learn(tried);
        return said;
      }
      const lesser = lesserThan(tried, said, isFirst);
      if (lesser === null) throw rejection(said, place, [call.user]);
      warn(options, { tried, lesser, complaint: unquoted(said, [call.user]) });
      tried = combine(manners.now(), lesser);
    }
  };
  return { name: options.model, ask };
}

const promptOf = ({ system, user }: ChatCall): string => system + user;

function logged({ log }: OpenaiOptions, call: ChatCall, answer: ChatAnswer): ChatAnswer {
  const { model, usage, truncated } = answer;
  log.debug({ call: call.name, model, usage, truncated }, 'the chat model answered');
  const { promptTokens } = usage;
  const expected = estimateTokens(promptOf(call));
  if (promptTokens > 0 && promptTokens < expected * CUT_SHARE && expected - promptTokens > CUT_MIN) {
    log.warn(
      { call: call.name, model, promptTokens, expected },
      'the chat model read much less than it was sent; its server may cut prompts without saying so: give it a larger context window (Ollama: num_ctx), or lower SLOWWAVE_PART_TOKENS',
    );
  }
  return answer;
}

/** Estimates of tokens are wrong by a third, seldom by half. */
const CUT_SHARE = 0.5;
/** So many tokens may have been counted apart, because they were cached. */
const CUT_MIN = 500;

function warn({ log, model }: OpenaiOptions, step: { tried: Manners; lesser: Manners; complaint: Complaint }): void {
  const { tried, lesser, complaint } = step;
  log.warn(
    { model, tried, now: lesser, reason: complaint.text },
    'the chat model rejects a setting; continuing without it',
  );
}
