import { IndexMoveAnswer, type IndexMoveView, PatchIndexMove, PostIndexMove } from '@slowwave/contracts';
import { type IndexMove, isoOf, MoveRefusedError, passes } from '@slowwave/engine';
import { problem } from '@slowwave/http';
import { type ConsoleDeps, routesOf } from './deps.ts';

const route = routesOf('manage');

/** The index goes over to another embedder. */
export const indexMoveRoutes = [
  route('GET /v1/index/move', {
    id: 'getIndexMove',
    summary: 'Get the progress of the move to another embedding model',
    answer: IndexMoveAnswer,
    audited: false,
    handle: async ({ moves }) => answerOf(await moves.current()),
  }),
  route('POST /v1/index/move', {
    id: 'postIndexMove',
    summary: 'Move the index to the next embedding model',
    description:
      'The new index is filled while the current one stays in use, both are compared with stored questions, and searches switch to the new one if it finds ' +
      'as much. The old one is kept up to date until the move is confirmed. Requires SLOWWAVE_NEXT_EMBEDDING_MODEL in all ' +
      'processes. Affects the whole installation.',
    body: PostIndexMove,
    answer: IndexMoveAnswer,
    handle: ({ moves }, { body: { tokens_per_minute: tokens, margin, auto, dry_run } }) =>
      refusedOr(async () => {
        if (dry_run) return { move: null, estimate: await moves.estimate() };
        return answerOf(await moves.start({ tokensPerMinute: tokens ?? null, margin, auto }));
      }),
  }),
  route('PATCH /v1/index/move', {
    id: 'patchIndexMove',
    summary: 'Switch to the new index or back, or confirm or abandon its move',
    body: PatchIndexMove,
    answer: IndexMoveAnswer,
    handle: ({ moves }, { body }) => refusedOr(async () => answerOf(await changed(moves, body.state, body.force))),
  }),
];

function changed(moves: ConsoleDeps['moves'], state: PatchIndexMove['state'], force: boolean): Promise<IndexMove> {
  if (state === 'switched') return moves.switch({ force });
  if (state === 'ready') return moves.back();
  return state === 'confirmed' ? moves.confirm() : moves.abandon();
}

async function refusedOr<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof MoveRefusedError) throw problem('conflict', error.message);
    throw error;
  }
}

const answerOf = (move: IndexMove | null): IndexMoveAnswer => ({ move: move && viewOf(move), estimate: null });

function viewOf(move: IndexMove): IndexMoveView {
  const { state, from, to, startedAt, since, tokensPerMinute, margin, auto, estimate, note } = move;
  const { behind, comparison, problem: failed, cleaned } = move;
  return {
    ...{ state, from, to, started_at: isoOf(startedAt), since: isoOf(since) },
    ...{ tokens_per_minute: tokensPerMinute, margin, auto, estimate, points: note.points },
    behind: behind.from.length + behind.to.length,
    comparison: comparison && { ...comparison, at: isoOf(comparison.at), passed: passes(move) },
    ...{ problem: failed, cleaned },
  };
}
