import type { ReplayView } from '@slowwave/contracts';
import { withApi } from '../api/ask.ts';
import { momentOf, oneOf } from '../arguments.ts';
import { type Call, type Command, isOffline } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { followReplay } from './follow-replay.ts';

export const whatIfCommand: Command = {
  name: 'what-if',
  usage: '[batch id…]',
  words: [0, 1_000],
  on: 'server or ledger',
  summary: 'Consolidate past batches again with another model or other prompts, and show the difference.',
  about: `Nothing that is remembered changes: it happens in a space of its own, which goes when the
difference is told. A worker has to run.`,
  options: {
    user: { value: 'ID', about: 'Only batches of a user.' },
    since: {
      value: 'MOMENT',
      about: 'Only batches accepted since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.',
    },
    until: { value: 'MOMENT', about: 'Only batches accepted before this time.' },
    model: { value: 'NAME', about: 'Another chat model on the same model server.' },
    mode: { value: 'MODE', about: 'decide or add_only; overrides the mode of the batches.' },
    instructions: { value: 'TEXT', about: 'Overrides the settings.' },
    keep: { value: null, about: 'Keep the shadow space for inspection.' },
  },
  run: (call) => {
    requireWorker(call);
    return withApi(call, { writes: true }, async (ask, api) => {
      const body = { filter: filterOf(call), ...changesOf(call), shadow: true };
      const begun = await ask<ReplayView>({ method: 'POST', path: '/v1/replays', body });
      const done = await followReplay(call, ask, { title: 'what-if', begun });
      const path = `/v1/replays/${done.id}`;
      const { body: text } = await api.ask({ method: 'GET', path: `${path}?format=text` });
      if (!call.given.flag('keep')) await ask({ method: 'DELETE', path });
      call.out.answer(done, String(text));
      return done.state === 'done' ? EXIT.done : EXIT.failed;
    });
  },
};

/** A queue in process has its worker in the standalone server, which cannot run while the folder is worked on here. */
function requireWorker(call: Call): void {
  const { redisUrl, databaseUrl } = call.config;
  if (!isOffline(call) || redisUrl !== null || databaseUrl !== null) return;
  throw new UsageError(
    'a what-if needs a worker, which runs in the server here: start the server and remove --offline',
    'what-if',
  );
}

function filterOf({ given }: Call): object {
  const { words } = given;
  return present({
    batch_ids: words.length === 0 ? null : words,
    user_id: given.text('user'),
    since: momentOf(given, 'since'),
    until: momentOf(given, 'until'),
  });
}

const changesOf = ({ given }: Call): object =>
  present({
    model: given.text('model'),
    mode: oneOf(given, 'mode', ['decide', 'add_only']),
    instructions: given.text('instructions'),
  });

const present = (fields: Readonly<Record<string, unknown>>): object =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
