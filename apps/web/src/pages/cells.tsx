import type { Operations } from '@slowwave/sdk';
import { isGone, useCells, useWho } from '../api.ts';
import { counted, whole } from '../ui/figures.tsx';
import { Table } from '../ui/lists.tsx';
import { Answer, Empty } from '../ui/reading.tsx';

type CellsView = Operations['GET /v1/cells']['answer'];
type Cell = CellsView['cells'][number];

const EVERY_MS = 3_000;
const SLOTS = 65_536;

/** Which cell has whom, and who is on the way from one to another. */
export function Cells() {
  const cells = useCells(useWho(), EVERY_MS);
  return (
    <>
      <h1>Cells</h1>
      <Answer of={cells}>
        {(view) =>
          view.cells.length === 0 ? (
            <Empty>This installation is not divided into cells.</Empty>
          ) : (
            <>
              <Slots of={view} />
              <CellTable of={view} />
              <OnTheirWay of={view} />
            </>
          )
        }
      </Answer>
    </>
  );
}

/** Blue first, since red means trouble; then far apart for neighbours. A cell keeps its colour as long as none before it goes. */
const FIRST_HUE = 215;
const GOLDEN_ANGLE = 137.5;
const colorOf = (cells: readonly Cell[], name: string): string =>
  `hsl(${FIRST_HUE + cells.findIndex((cell) => cell.name === name) * GOLDEN_ANGLE} 45% 55%)`;

/** All slots as one bar. */
function Slots({ of: { cells, ranges } }: { readonly of: CellsView }) {
  const shares = cells.map(({ name, slots }) => `${name} ${shareOf(slots)}`).join(', ');
  return (
    <section className="card" aria-label="Slots">
      <figure className="chart">
        <svg viewBox={`0 0 ${SLOTS} 1`} preserveAspectRatio="none" role="img" aria-label={`Slots: ${shares}`}>
          {ranges.map(({ from, to, cell }) => (
            <rect key={from} x={from} width={to - from + 1} height="1" fill={colorOf(cells, cell)} />
          ))}
        </svg>
        <figcaption className="row quiet">
          {cells
            .filter(({ slots }) => slots > 0)
            .map(({ name }) => (
              <span key={name}>
                <span className="swatch" style={{ background: colorOf(cells, name) }} /> {name}
              </span>
            ))}
        </figcaption>
      </figure>
    </section>
  );
}

const shareOf = (slots: number): string => `${((slots / SLOTS) * 100).toFixed(1)}%`;

const CellTable = ({ of: { cells } }: { readonly of: CellsView }) => (
  <Table
    name="Cells"
    card
    rows={cells}
    keyOf={({ name }) => name}
    columns={[
      ['Cell', ({ name }) => name, 'name'],
      ['State', (cell) => <Standing cell={cell} />],
      ['Slots', ({ slots }) => shareOf(slots), 'number'],
      ['Owners', ({ owners }) => countOf(owners), 'number'],
      ['Memories', ({ memories }) => countOf(memories), 'number'],
      ['Address', ({ url }) => <a href={url}>{url}</a>],
    ]}
  />
);

/** A cell that does not answer has not counted. */
const countOf = (count: number | null): string => (count === null ? '–' : whole(count));

const STATES = { open: 'open', draining: 'draining', lost: 'lost', left_behind: 'lost, owners start over' } as const;

function Standing({ cell }: { readonly cell: Cell }) {
  const { state, answers } = cell;
  if (isGone(cell)) return <span className="tag bad">{STATES[state]}</span>;
  if (!answers) return <span className="tag bad">does not respond</span>;
  return <span className={`tag ${state === 'open' ? 'good' : 'wait'}`}>{STATES[state]}</span>;
}

interface Handing {
  readonly source: string;
  readonly destination: string;
  readonly slots: number;
  readonly states: string;
  /** Why the last step of one of them failed. */
  readonly why: string | null;
}

/** Slots change hands in small runs: together they say more. */
function handoversOf(handovers: CellsView['handovers']): readonly Handing[] {
  const byPair = Map.groupBy(handovers, ({ source, destination }) => JSON.stringify([source, destination]));
  return [...byPair.values()].flatMap((runs) => {
    const [first] = runs;
    if (first === undefined) return [];
    const slots = runs.reduce((sum, { from, to }) => sum + to - from + 1, 0);
    const states = [...new Set(runs.map(({ state }) => state))].join(', ');
    const why = runs.find((run) => run.why !== null)?.why ?? null;
    return [{ source: first.source, destination: first.destination, slots, states, why }];
  });
}

/** Moves and handovers. Those that were given up stay until somebody has read why. */
function OnTheirWay({ of: { moves, handovers } }: { readonly of: CellsView }) {
  const { given_up: givenUp, ...open } = moves.counts;
  const moving = Object.values(open).reduce((sum, count) => sum + count, 0);
  return (
    <section className="card" aria-label="Moves">
      <h2>Moves</h2>
      {moving + handovers.length + givenUp === 0 && <p className="quiet">Nothing is being moved.</p>}
      {handoversOf(handovers).map(({ source, destination, slots, states, why }) => (
        <p key={`${source} ${destination}`}>
          {shareOf(slots)} of the slots are moving from {source} to {destination}:{' '}
          <span className="tag wait">{states}</span> {why !== null && <span className="quiet">{why}</span>}
        </p>
      ))}
      {moving > 0 && <p>{counted(moving, 'owner is', 'owners are')} being moved.</p>}
      {givenUp > 0 && <p>{counted(givenUp, 'owner', 'owners')} could not be moved.</p>}
      <ul className="plain">
        {moves.oldest.map(({ tenant, kind, id, source, destination, state, why }) => (
          <li key={`${tenant} ${kind} ${id}`}>
            <span className={`tag ${state === 'given_up' ? 'bad' : 'wait'}`}>{state.replace('_', ' ')}</span> {kind}{' '}
            <code>{id}</code> of {tenant}, from {source} to {destination}{' '}
            {why !== null && <span className="quiet">{why}</span>}
          </li>
        ))}
      </ul>
    </section>
  );
}
