import type { Operations } from '@slowwave/sdk';
import { isGone, useCells } from '../api.ts';
import { useWho } from '../session.ts';
import { Answer, Empty } from '../ui/states.tsx';
import { Wide } from '../ui/wide.tsx';

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
              <Table of={view} />
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
  const shares = cells.map(({ name, slots }) => `${name} ${percentOf(slots)}`).join(', ');
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

const percentOf = (slots: number): string => `${((slots / SLOTS) * 100).toFixed(1)}%`;

function Table({ of: { cells } }: { readonly of: CellsView }) {
  return (
    <Wide name="Cells" card>
      <table>
        <thead>
          <tr>
            <th>Cell</th>
            <th>State</th>
            <th className="number">Slots</th>
            <th className="number">Owners</th>
            <th className="number">Memories</th>
            <th>Address</th>
          </tr>
        </thead>
        <tbody>
          {cells.map((cell) => (
            <tr key={cell.name}>
              <th scope="row">{cell.name}</th>
              <td>
                <Standing cell={cell} />
              </td>
              <td className="number">{percentOf(cell.slots)}</td>
              <td className="number">{cell.owners?.toLocaleString('en') ?? '–'}</td>
              <td className="number">{cell.memories?.toLocaleString('en') ?? '–'}</td>
              <td>
                <a href={cell.url}>{cell.url}</a>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}

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
          {percentOf(slots)} of the slots are moving from {source} to {destination}:{' '}
          <span className="tag wait">{states}</span> {why !== null && <span className="quiet">{why}</span>}
        </p>
      ))}
      {moving > 0 && (
        <p>
          {moving.toLocaleString('en')} {moving === 1 ? 'owner is' : 'owners are'} being moved.
        </p>
      )}
      {givenUp > 0 && (
        <p>
          {givenUp.toLocaleString('en')} {givenUp === 1 ? 'owner' : 'owners'} could not be moved.
        </p>
      )}
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
