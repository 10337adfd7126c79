import { setTimeout as sleep } from 'node:timers/promises';
import type { ReplayRehearsal, ReplayView } from '@slowwave/contracts';
import type { z } from 'zod';
import {
  type Call,
  type Command,
  isOffline,
  momentOf,
  OptionError,
  type Outcome,
  oneOf,
  present,
  SINCE,
  UNTIL,
  USER,
} from '../command.ts';
import { EXIT, UsageError } from '../exit.ts';
import { tracked } from '../output.ts';
import { forecastText } from './usage.ts';

export const replayCommands: readonly Command[] = [
  {
    name: 'replay',
    usage: '[batch id…]',
    writes: true,
    summary: 'Queue parked or undone batches again at their old positions, and report the result.',
    about: `Replays all parked batches that match every given option; without options, all of them. With
--undone, batches whose consolidation was undone. Exits with 3 if some are parked again.`,
    options: {
      user: USER,
      undone: { value: null, about: 'Undone batches instead of parked ones. Their undo can no longer be redone.' },
      'error-code': { value: 'CODE', about: 'Only batches parked with this error code.' },
      since: SINCE,
      until: UNTIL,
      'dry-run': { value: null, about: 'Only report how many batches match, and the estimated usage.' },
      'no-wait': { value: null, about: 'Do not wait for the result.' },
    },
    run: async (call) => {
      const { given, ask } = call;
      const replayed = given.flag('undone') ? 'undone' : 'parked';
      const filter = { ...filterOf(call), ...present({ state: replayed, error_code: given.text('error-code') }) };
      const dry_run = given.flag('dry-run');
      if (dry_run) {
        const rehearsed = await ask<Rehearsed>('POST', '/v1/replays', { filter, dry_run });
        return matching(call, rehearsed, { replayed, takes: takesOf(rehearsed) });
      }
      const begun = await ask<ReplayView>('POST', '/v1/replays', { filter });
      if (begun.matched === 0) return matching(call, begun, { replayed, takes: '' });
      if (given.flag('no-wait') || isOffline(call))
        return { value: begun, text: `Replay ${begun.id} of ${begun.matched} batches has started.` };
      const done = await followReplay(call, 'replay', begun);
      const { id, state, consolidated, parked, matched } = done;
      return {
        value: done,
        text: `Replay ${id} is ${state}: of ${matched} batches ${consolidated} are consolidated, ${parked} are parked again.`,
        exit: parked > 0 || state !== 'done' ? EXIT.findings : EXIT.done,
      };
    },
  },
  {
    name: 'what-if',
    usage: '[batch id…]',
    writes: true,
    summary: 'Consolidate past batches again with another model or other prompts, and show the difference.',
    about: `Live memories are not changed: this runs in a shadow space, which is deleted after the difference
is shown. Requires a running worker.`,
    options: {
      user: USER,
      since: SINCE,
      until: UNTIL,
      model: { value: 'NAME', about: 'Another chat model, for all steps.' },
      models: { value: 'STEP=NAME,…', about: 'Other chat models by step, e.g. decide=gpt-4.1,summary=gpt-4.1-nano.' },
      mode: { value: 'MODE', about: 'decide or add_only; overrides the mode of the batches.' },
      instructions: { value: 'TEXT', about: 'Overrides the settings.' },
      'dry-run': { value: null, about: 'Only report how many batches match, and the estimated usage.' },
      keep: { value: null, about: 'Keep the shadow space for inspection.' },
    },
    run: async (call) => {
      const { given, ask, get } = call;
      const changes = present({
        model: given.text('model'),
        models: modelsIn(given),
        mode: oneOf(given, 'mode', ['decide', 'add_only']),
        instructions: given.text('instructions'),
      });
      const body = { filter: filterOf(call), ...changes, shadow: true };
      if (given.flag('dry-run')) {
        const rehearsed = await ask<Rehearsed>('POST', '/v1/replays', { ...body, dry_run: true });
        return { value: rehearsed, text: `${rehearsed.matched} batches match.${takesOf(rehearsed)}` };
      }
      requireWorker(call);
      const done = await followReplay(call, 'what-if', await ask('POST', '/v1/replays', body));
      const path = `/v1/replays/${done.id}`;
      const text = String(await get(`${path}?format=text`));
      if (!given.flag('keep')) await ask('DELETE', path);
      return { value: done, text, exit: done.state === 'done' ? EXIT.done : EXIT.failed };
    },
  },
];

type Rehearsed = z.infer<typeof ReplayRehearsal>;

const takesOf = ({ matched, forecast }: Rehearsed): string =>
  matched === 0 ? '' : ` This takes ${forecastText(forecast)}.`;

/** Batches that are named and do not match are of another state, or of nobody. */
function matching(
  { given }: Call,
  begun: Pick<ReplayView, 'matched'>,
  { replayed, takes }: { readonly replayed: string; readonly takes: string },
): Outcome {
  const named = given.words.length;
  if (named === 0 || begun.matched === named)
    return { value: begun, text: `${begun.matched} ${replayed} batches match.${takes}` };
  return {
    value: begun,
    text: `${begun.matched} of ${named} batches are ${replayed}; slowwave show <batch id> shows the state of one.`,
    exit: begun.matched === 0 ? EXIT.notFound : EXIT.done,
  };
}

function modelsIn(given: Call['given']): Readonly<Record<string, string>> | null {
  const text = given.text('models');
  if (text === null) return null;
  const pairs = text.split(',').map((pair) => /^\s*(\w+)=(.+?)\s*$/u.exec(pair)?.slice(1) ?? null);
  if (pairs.includes(null)) throw new OptionError('models', 'comma-separated STEP=NAME pairs', text);
  return Object.fromEntries(pairs.filter((pair) => pair !== null));
}

/** The worker of a queue in process is in the standalone server, which cannot run while the folder is used here. */
function requireWorker(call: Call): void {
  const { redisUrl, databaseUrl } = call.config;
  if (!isOffline(call) || redisUrl !== null || databaseUrl !== null) return;
  throw new UsageError(
    'a what-if needs a worker, which here runs in the server: start the server and remove --offline',
    'what-if',
  );
}

const filterOf = ({ given }: Call): object =>
  present({
    batch_ids: given.words.length === 0 ? null : given.words,
    user_id: given.text('user'),
    since: momentOf(given, 'since'),
    until: momentOf(given, 'until'),
  });

const POLL_MS = 500;
const OVER: readonly ReplayView['state'][] = ['done', 'failed', 'discarded'];

/** Waits until a replay is over, and shows its progress. */
const followReplay = ({ out, cancel, ask }: Call, title: string, begun: ReplayView): Promise<ReplayView> =>
  tracked(out, { title, unit: 'batches' }, async ({ update }) => {
    for (let replay = begun; ; ) {
      update(replay.consolidated + replay.parked, replay.matched, replay.state);
      if (OVER.includes(replay.state)) return replay;
      await sleep(POLL_MS, null, { signal: cancel });
      replay = await ask<ReplayView>('GET', `/v1/replays/${replay.id}`);
    }
  });
