import type { CellsView, CellView } from '@slowwave/contracts';
import { type Cell, type CellDirectory, type DirectoryBook, isLost, widthsOf } from '@slowwave/engine/cells';
import type { AskCell } from './ask-cell.ts';

interface Seen {
  readonly directory: Pick<CellDirectory, 'moves' | 'handovers'>;
  readonly book: DirectoryBook;
  readonly ask: AskCell;
  /** How many moves are named. */
  readonly movesShown: number;
}

/** All cells with what each says of itself, who has which slots, and what is being moved. */
export async function overviewOfCells({ directory, book, ask, movesShown }: Seen): Promise<CellsView> {
  const widths = widthsOf(book.ranges(), []);
  const [cells, { counts, oldest }, handovers] = await Promise.all([
    Promise.all(
      [...book.cells(), ...book.lost()].map(async (cell) => ({
        ...{ name: cell.name, url: cell.url, state: cell.state, slots: widths.get(cell.name) ?? 0 },
        ...(isLost(cell) ? SILENT : await sizeOfCell(ask, cell)),
      })),
    ),
    directory.moves(movesShown),
    directory.handovers(),
  ]);
  return {
    cells,
    ranges: book.ranges().map(({ from, to, cell }) => ({ from, to, cell })),
    moves: {
      counts: { ...counts },
      oldest: oldest.map(({ tenant, owner, source, destination, state, tries, why }) => ({
        ...{ tenant, kind: owner.kind, id: owner.id },
        ...{ source, destination, state, tries, why },
      })),
    },
    handovers: handovers.map(({ from, to, source, destination, state, tries, why }) => ({
      ...{ from, to, source, destination, state, tries, why },
    })),
  };
}

const OK = 200;

export type SizeOfCell = Pick<CellsView['cells'][number], 'answers' | 'owners' | 'memories'>;

const SILENT: SizeOfCell = { answers: false, owners: null, memories: null };

/** What a cell has, if it answers. */
export async function sizeOfCell(ask: AskCell, { name }: Pick<Cell, 'name'>): Promise<SizeOfCell> {
  const answer = await ask(name, { method: 'GET', path: '/v1/cell' }).catch(() => null);
  if (answer === null || answer.status !== OK) return SILENT;
  const { owners, memories } = answer.body as CellView;
  return { answers: true, owners, memories };
}
