import { besideChat } from '@slowwave/adapters/assemble';
import { ARE_YOU_THERE } from '@slowwave/engine';
import { extractionTry } from './extraction.ts';
import { formTries } from './forms.ts';
import { limitTry, roomTry } from './limits.ts';
import { type TimedChat, timedChat } from './timed-chat.ts';
import { type Candidate, NO_TIME, type Outcome, ok, type Try, type Trying } from './trial.ts';

/** All that consolidations need of the chat model. */
export async function chatCandidate(trying: Trying): Promise<Candidate> {
  const close = async (): Promise<void> => {};
  const { chatModel: model } = trying.config;
  if (model === null) return { model: 'builtin', tries: [BUILTIN], pace: () => '', close };
  const chat = await timedChat(trying, model);
  const tries = [
    answerTry(chat),
    ...formTries(chat),
    limitTry(chat, trying),
    roomTry(chat),
    extractionTry(chat, trying),
  ];
  return { model, tries, pace: chat.pace, close };
}

/** Models of steps, of images and fallbacks: whether they are there, and in which form they answer. */
export async function otherCandidates(trying: Trying): Promise<readonly Candidate[]> {
  const candidates: Candidate[] = [];
  for (const { model, server } of besideChat(trying.config)) {
    const config = { ...trying.config, chatModel: model, chatServer: server };
    const chat = await timedChat({ ...trying, config }, model);
    candidates.push({ model, tries: [answerTry(chat), ...formTries(chat)], pace: chat.pace, close: async () => {} });
  }
  return candidates;
}

const BUILTIN: Try = {
  tried: 'answer',
  needs: () => NO_TIME,
  run: async () => ok('builtin rules, no model server'),
};

/** Of the budget: the other model is to be tried, too. */
const ANSWER_SHARE = 2 / 3;
/** Asked for as long an answer as there may be, a server names the maximum that it allows. */
const LIMIT_MOST = 32_000; // tokens

const answerTry = (chat: TimedChat): Try => ({
  tried: 'answer',
  needs: () => NO_TIME,
  run: async () => {
    const answer = await chat.ask(ARE_YOU_THERE, { limit: LIMIT_MOST, share: ANSWER_SHARE });
    return answer === null ? tooLate(chat) : ok(`answered in ${answer.took}${refusedBy(chat)}`);
  },
});

const tooLate = (chat: TimedChat): Outcome => ({
  verdict: 'failed',
  came: chat.reached(),
  advice: `${chat.reached()}; check whether its server is busy or still loading the model, then run again, if necessary with --minutes 5`,
});

function refusedBy(chat: TimedChat): string {
  const { temperature, system, stream } = chat.takes();
  const refused = [
    ...(temperature ? [] : ['temperature']),
    ...(system ? [] : ['the system role']),
    ...(stream === 'none' ? ['streaming, or does not count tokens with it'] : []),
  ];
  return refused.length === 0 ? '' : `; refuses ${refused.join(' and ')}${chat.since}, so it is called without`;
}
