import type { ReplayView } from '@slowwave/contracts';
import { withApi } from '../api/ask.ts';
import { momentOf } from '../arguments.ts';
import { type Call, type Command, isOffline } from '../command.ts';
import { EXIT } from '../exit.ts';
import { followReplay } from './follow-replay.ts';

export const replayCommand: Command = {
  name: 'replay',
  usage: '[batch id…]',
  words: [0, 1_000],
  on: 'server or ledger',
  summary: 'Queue parked batches again at their old positions, and report the result.',
  about: `All parked batches that fit every option that is given; without any, all there are. Ends
with 3 when some of them are parked again.`,
  options: {
    user: { value: 'ID', about: 'Only batches of this user.' },
    'error-code': { value: 'CODE', about: 'Only batches parked with this error code.' },
    since: {
      value: 'MOMENT',
      about: 'Only batches accepted since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.',
    },
    until: { value: 'MOMENT', about: 'Only batches accepted before this time.' },
    'dry-run': { value: null, about: 'Only report how many match.' },
    'no-wait': { value: null, about: 'Do not wait for the result.' },
  },
  run: (call) =>
    withApi(call, { writes: true }, async (ask) => {
      const body = { filter: filterOf(call), dry_run: call.given.flag('dry-run') };
      const asked = await ask<ReplayView & { matched: number }>({ method: 'POST', path: '/v1/replays', body });
      if (body.dry_run || asked.matched === 0) {
        call.out.answer(asked, `${asked.matched} parked batches match.`);
        return EXIT.done;
      }
      const followed = !call.given.flag('no-wait') && !isOffline(call);
      const done = followed ? await followReplay(call, ask, { title: 'replay', begun: asked }) : asked;
      call.out.answer(done, followed ? ended(done) : `Replay ${done.id} of ${done.matched} batches has begun.`);
      return followed && (done.parked > 0 || done.state !== 'done') ? EXIT.findings : EXIT.done;
    }),
};

function filterOf({ given }: Call): object {
  const { words } = given;
  const texts = {
    user_id: given.text('user'),
    error_code: given.text('error-code'),
    since: momentOf(given, 'since'),
    until: momentOf(given, 'until'),
  };
  const named = Object.fromEntries(Object.entries(texts).filter(([, value]) => value !== null));
  return words.length === 0 ? named : { ...named, batch_ids: words };
}

const ended = ({ id, state, consolidated, parked, matched }: ReplayView): string =>
  `Replay ${id} is ${state}: of ${matched} batches ${consolidated} are consolidated, ${parked} are parked again.`;
