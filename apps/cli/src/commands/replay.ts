import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayView } from '@slowwave/contracts';
import { type Ask, withApi } from '../api.ts';
import { type Call, type Command, isOffline, momentOf, oneOf } from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';

export const replayCommand: Command = {
  name: 'replay',
  usage: '[batch id…]',
  words: [0, 1_000],
  on: 'server or ledger',
  summary: 'Queue parked or undone batches again at their old positions, and report the result.',
  about: `All parked batches that fit every option that is given; without any, all there are. With
--undone, batches whose consolidation was undone. Ends with 3 when some of them are parked again.`,
  options: {
    user: { value: 'ID', about: 'Only batches of this user.' },
    'error-code': { value: 'CODE', about: 'Only batches parked with this error code.' },
    since: {
      value: 'MOMENT',
      about: 'Only batches accepted since this time, e.g. 2026-03-01T09:30:00Z or 30m, 2h, 7d.',
    },
    until: { value: 'MOMENT', about: 'Only batches accepted before this time.' },
    undone: { value: null, about: 'Undone batches instead of parked ones. Their undo can no longer be redone.' },
    'dry-run': { value: null, about: 'Only report how many match.' },
    'no-wait': { value: null, about: 'Do not wait for the result.' },
  },
  run: (call) =>
    withApi(call, { writes: true }, async (ask) => {
      const body = { filter: filterOf(call), dry_run: call.given.flag('dry-run') };
      const asked = await ask<ReplayView & { matched: number }>({ method: 'POST', path: '/v1/replays', body });
      if (body.dry_run || asked.matched === 0) {
        call.out.answer(asked, `${asked.matched} ${stateOf(call)} batches match.`);
        return EXIT.done;
      }
      const followed = !call.given.flag('no-wait') && !isOffline(call);
      const done = followed ? await followReplay(call, ask, { title: 'replay', begun: asked }) : asked;
      call.out.answer(done, followed ? ended(done) : `Replay ${done.id} of ${done.matched} batches has begun.`);
      return followed && (done.parked > 0 || done.state !== 'done') ? EXIT.findings : EXIT.done;
    }),
};

const stateOf = ({ given }: Call): string => (given.flag('undone') ? 'undone' : 'parked');

function filterOf(call: Call): object {
  const { given } = call;
  const { words } = given;
  const texts = {
    state: stateOf(call),
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
      const body = { filter: whatIfFilter(call), ...changesOf(call), shadow: true };
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

function whatIfFilter({ given }: Call): object {
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

const POLL_MS = 500;
const OVER: readonly ReplayView['state'][] = ['done', 'failed', 'discarded'];

/** Waits until a replay is over, and shows how far it is. */
async function followReplay(
  { out, cancel }: Call,
  ask: Ask,
  { title, begun }: { readonly title: string; readonly begun: ReplayView },
): Promise<ReplayView> {
  const progress = out.progress({ title, unit: 'batches' });
  try {
    for (let replay = begun; ; ) {
      progress.update(replay.consolidated + replay.parked, replay.matched, replay.state);
      if (OVER.includes(replay.state)) return replay;
      await sleep(POLL_MS, null, { signal: cancel });
      replay = await ask<ReplayView>({ method: 'GET', path: `/v1/replays/${replay.id}` });
    }
  } finally {
    progress.stop();
  }
}
