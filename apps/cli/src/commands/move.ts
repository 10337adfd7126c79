import type { IndexMoveAnswer, IndexMoveView } from '@slowwave/contracts';
import { type Call, type Command, countOf } from '../command.ts';
import { pairs } from '../output.ts';

const PATH = '/v1/index/move';
const MOST = 1_000_000_000;

export const indexMoveCommands: readonly Command[] = [
  {
    name: 'index move',
    summary: 'Move the index to the next embedding model, while it is in use.',
    about: `Requires SLOWWAVE_NEXT_EMBEDDING_MODEL in all processes of the server. A worker fills a new index
next to the one in use. Then both are compared with recent questions of users, and searches use the
new one if it finds as much. The old one is kept up to date until slowwave index confirm.`,
    options: {
      'dry-run': { value: null, about: 'Only show how many texts have to be embedded.' },
      'tokens-per-minute': {
        value: 'N',
        about: 'Token limit per minute for filling the new index. Default: no limit.',
      },
      margin: { value: 'SHARE', about: 'How much lower the recall of the new index may be, 0 to 1. Default: 0.02.' },
      manual: { value: null, about: 'Wait for slowwave index switch, even if the comparison passes.' },
    },
    run: async (call) => {
      const { given } = call;
      const limited = given.text('tokens-per-minute') !== null;
      const margin = given.text('margin');
      const answer = await call.ask<IndexMoveAnswer>('POST', PATH, {
        ...(limited && { tokens_per_minute: countOf(given, 'tokens-per-minute', { usual: 1, max: MOST }) }),
        ...(margin !== null && { margin: Number(margin) }),
        auto: !given.flag('manual'),
        dry_run: given.flag('dry-run'),
      });
      return told(answer);
    },
  },
  {
    name: 'index status',
    summary: 'Show the progress of the move, and how the two indexes compare.',
    run: async ({ ask }) => told(await ask<IndexMoveAnswer>('GET', PATH)),
  },
  {
    name: 'index switch',
    summary: 'Search the new index.',
    options: { force: { value: null, about: 'Even if it finds less than the margin allows.' } },
    run: (call) => changed(call, { state: 'switched', force: call.given.flag('force') }),
  },
  stepTo('ready', { name: 'index back', summary: 'Search the old index again, without embedding anything.' }),
  stepTo('confirmed', { name: 'index confirm', summary: 'Remove the old index and its vectors.' }),
  stepTo('abandoned', { name: 'index abandon', summary: 'Abandon the move and remove the new index.' }),
];

/** Brings a move into another state. */
function stepTo(state: string, named: Pick<Command, 'name' | 'summary'>): Command {
  return { ...named, run: (call) => changed(call, { state }) };
}

const changed = async ({ ask }: Call, body: object) => told(await ask<IndexMoveAnswer>('PATCH', PATH, body));

function told(answer: IndexMoveAnswer) {
  const { move, estimate } = answer;
  if (estimate !== null) {
    return {
      value: answer,
      text: `The new model has to embed about ${estimate.texts} texts with ${estimate.tokens} tokens.`,
    };
  }
  return {
    value: answer,
    text: move === null ? 'The index is not being moved.' : `${textOf(move)}\n\n${NEXT_STEP[move.state]}`,
  };
}

const PERCENT = 100;
const percent = (share: number): string => `${(share * PERCENT).toFixed(1)}%`;

function textOf(move: IndexMoveView): string {
  const { comparison } = move;
  const rows: (readonly [string, string | number])[] = [
    ['state', move.state],
    ['since', move.since],
    ['from', move.from],
    ['to', move.to],
    ['points written', `${move.points} of about ${move.estimate.texts}`],
    ['tokens per minute', move.tokens_per_minute ?? 'no limit'],
    ['users lacking vectors', move.behind],
  ];
  if (comparison !== null) {
    rows.push(
      ['questions compared', `${comparison.questions}, ${comparison.asked} of them asked by users`],
      ['recall of the old index', percent(comparison.from.recall)],
      ['recall of the new index', percent(comparison.to.recall)],
      ['agreement', percent(comparison.agreement)],
      ['passed', comparison.passed ? 'yes' : 'no'],
    );
  }
  if (move.problem !== null) rows.push(['last problem', move.problem]);
  return pairs(rows);
}

const NEXT_STEP: Readonly<Record<IndexMoveView['state'], string>> = {
  filling: 'Searches use the old index. Cancel the move with slowwave index abandon.',
  ready:
    'Searches use the old index. Continue with slowwave index switch (--force if it did not pass), or cancel the move with slowwave index abandon.',
  switched:
    'Searches use the new index. Return with slowwave index back, or remove the old one with slowwave index confirm.',
  confirmed:
    'Set SLOWWAVE_EMBEDDING_MODEL to the new model, remove the SLOWWAVE_NEXT_EMBEDDING_ settings, and restart the processes one after the other.',
  abandoned: 'The new index is being removed.',
};
