import type { ChatAnswer, ChatCall, ChatModel, Log } from '@slowwave/engine';
import { readChatAnswer } from './chat-answer.ts';
import { chatRequest, combine, FULL_MANNERS, type Manners, withoutRefused } from './chat-request.ts';
import { connect, type OpenaiOptions } from './client.ts';
import type { Complaint } from './complaint.ts';
import { exchange } from './exchange.ts';
import { rejection } from './failure.ts';
import { unquoted } from './unquoted.ts';

/** A chat model behind any OpenAI-compatible API. */
export function openaiChat(options: OpenaiOptions): ChatModel {
  const { client, place } = connect(options);
  // Learnt from refusals, kept for the life of the process: a server is asked once for what it does not take.
  let manners = FULL_MANNERS;

  const ask: ChatModel['ask'] = async (call, cancel) => {
    for (;;) {
      const tried = manners;
      const request = chatRequest(options.model, call, tried);
      const outcome = await exchange({ place, cancel }, (signal) =>
        client.chat.completions.create(request, { signal }),
      );
      if ('body' in outcome)
        return told(options.log, call, readChatAnswer(outcome.body, call.system + call.user, place));
      const lesser = withoutRefused(tried, outcome.complaint);
      if (lesser === null) throw rejection(outcome.complaint, place, [call.user]);
      manners = combine(manners, lesser);
      warn(options, { tried, lesser, complaint: unquoted(outcome.complaint, [call.user]) });
    }
  };
  return { name: options.model, ask };
}

function told(log: Log, { name }: ChatCall, answer: ChatAnswer): ChatAnswer {
  const { model, usage, truncated } = answer;
  log.debug({ call: name, model, usage, truncated }, 'the chat model answered');
  return answer;
}

function warn({ log, model }: OpenaiOptions, step: { tried: Manners; lesser: Manners; complaint: Complaint }): void {
  const { tried, lesser, complaint } = step;
  log.warn(
    { model, tried, now: lesser, reason: complaint.text },
    'the chat model refuses a setting; going on without it',
  );
}
