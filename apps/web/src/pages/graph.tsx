import type { Entity, Graph, Relation } from '@slowwave/sdk';
import { useQuery } from '@tanstack/react-query';
import cytoscape, { type Core, type StylesheetJson } from 'cytoscape';
import { type FormEvent, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, mayChange, useWho } from '../api.ts';
import { DAY_MS, Day } from '../ui/figures.tsx';
import { Action } from '../ui/forms.tsx';
import { Answer, Empty, Problem } from '../ui/reading.tsx';

/** More are read in pages by programs; as a picture nobody could read them. */
const LIMIT = 500;

/** Who and what a user speaks of, and how it hangs together, at any time. */
export function GraphPage() {
  const { user_id: bound } = useWho();
  const user = bound ?? new URLSearchParams(useSearch()).get('user') ?? '';
  return (
    <>
      <div className="row">
        <h1>Graph</h1>
        {bound === null && <WhoseGraph user={user} />}
      </div>
      {user === '' ? (
        <Empty>Enter a user to see the people, places and things they talk about.</Empty>
      ) : (
        <Of user={user} />
      )}
    </>
  );
}

function WhoseGraph({ user }: { readonly user: string }) {
  const [, go] = useLocation();
  const show = (event: FormEvent<HTMLFormElement>): void => {
    event.preventDefault();
    const named = String(new FormData(event.currentTarget).get('user') ?? '').trim();
    go(`/graph?${new URLSearchParams({ user: named })}`);
  };
  return (
    <form className="push row" onSubmit={show}>
      <label htmlFor="user">User</label>
      <input id="user" name="user" defaultValue={user} key={user} />
      <button type="submit">Show</button>
    </form>
  );
}

function Of({ user }: { readonly user: string }) {
  const graph = useQuery({
    queryKey: ['graph', 'of', user],
    queryFn: ({ signal }) => api.graph.get({ user_id: user, ended: 'true', limit: LIMIT }, { signal }),
  });
  return (
    <Answer of={graph}>
      {(known) => {
        const beginning = beginningOf(known);
        return beginning === null ? (
          <Empty>
            There are no relations for {user}. They are extracted from batches posted with <code>"graph": true</code>,
            or from all batches if enabled in the settings.
          </Empty>
        ) : (
          <Timed key={user} user={user} graph={known} beginning={beginning} />
        );
      }}
    </Answer>
  );
}

interface OverTime {
  readonly user: string;
  readonly graph: Graph;
  readonly beginning: number;
}

const DATE = new Intl.DateTimeFormat('en', { dateStyle: 'medium' });

function Timed({ user, graph, beginning }: OverTime) {
  const [now] = useState(() => Date.now());
  const [at, setAt] = useState(now);
  const [chosen, choose] = useState<string | null>(null);
  const shown = useMemo(() => relationsAt(graph.relations, at), [graph, at]);
  const entity = graph.entities.find(({ id }) => id === chosen);
  return (
    <>
      <div className="card">
        <label htmlFor="at">As of {at === now ? 'now' : DATE.format(at)}</label>
        <input
          id="at"
          type="range"
          min={Math.min(beginning, now - DAY_MS)}
          max={now}
          step={DAY_MS / 24}
          value={at}
          onChange={({ target }) => setAt(Number(target.value))}
        />
      </div>
      {graph.truncated && <p className="notice">Only the first {LIMIT} relations are shown.</p>}
      <div className="beside">
        <section className="card">
          <Picture entities={graph.entities} shown={shown} chosen={chosen} choose={choose} />
        </section>
        <div>
          <Proposals user={user} />
          {entity !== undefined && <AboutEntity entity={entity} />}
          <section className="card" aria-label="Relations">
            <h2 className="row">
              Relations
              {chosen !== null && (
                <button type="button" className="push" onClick={() => choose(null)}>
                  Show all
                </button>
              )}
            </h2>
            <RelationList shown={chosen === null ? shown : around(shown, chosen)} />
          </section>
        </div>
      </div>
    </>
  );
}

/** A relation as it stands at some time. */
interface Shown {
  readonly relation: Relation;
  readonly ended: boolean;
}

/** The relations that were known to hold or to have ended at a time, newest first. */
function relationsAt(relations: readonly Relation[], at: number): readonly Shown[] {
  return relations
    .filter(({ valid_from: from }) => Date.parse(from) <= at)
    .map((relation) => ({ relation, ended: relation.invalid_at !== null && Date.parse(relation.invalid_at) <= at }))
    .toSorted((a, b) => Date.parse(b.relation.valid_from) - Date.parse(a.relation.valid_from));
}

/** When the first of the relations began; null: there is none. */
const beginningOf = ({ relations }: Pick<Graph, 'relations'>): number | null =>
  relations.length === 0 ? null : Math.min(...relations.map(({ valid_from: from }) => Date.parse(from)));

/** What hangs together with one entity: its relations and those at their other ends. */
function around(shown: readonly Shown[], entity: string): readonly Shown[] {
  const touches = ({ relation: { source, destination } }: Shown) => [source.id, destination.id].includes(entity);
  return shown.filter(touches);
}

interface Drawn {
  readonly entities: readonly Entity[];
  readonly shown: readonly Shown[];
  /** The entity that is looked at; null: none. */
  readonly chosen: string | null;
  readonly choose: (entity: string | null) => void;
}

/** The graph as a picture: what is clicked is looked at. The lists beside it say the same in words. */
function Picture({ entities, shown, chosen, choose }: Drawn) {
  const box = useRef<HTMLDivElement>(null);
  const core = useRef<Core | null>(null);
  const chosenBy = useRef(choose);
  chosenBy.current = choose;
  useEffect(() => {
    if (box.current === null) return;
    const cy = cytoscape({ container: box.current, style: styleOf(box.current), maxZoom: 2.5 });
    cy.on('tap', (event) => chosenBy.current(event.target === cy ? null : idOf(event.target)));
    core.current = cy;
    return () => cy.destroy();
  }, []);
  useEffect(() => {
    if (core.current !== null) draw(core.current, entities, shown);
  }, [entities, shown]);
  useEffect(() => {
    core.current?.nodes().removeClass('chosen');
    if (chosen !== null) core.current?.getElementById(chosen).addClass('chosen');
  }, [chosen]);
  return (
    <div
      ref={box}
      className="picture"
      role="img"
      aria-label="Drawing of the graph; the lists next to it contain the same relations."
    />
  );
}

/** Of an edge that is clicked its source is looked at. */
const idOf = (target: { isNode(): boolean; id(): string; data(name: string): string }): string =>
  target.isNode() ? target.id() : target.data('source');

/** Changes what has changed, and finds new places only when something is new. */
function draw(cy: Core, entities: readonly Entity[], shown: readonly Shown[]): void {
  const linked = new Set(shown.flatMap(({ relation: { source, destination } }) => [source.id, destination.id]));
  const nodes = entities.filter(({ id, self }) => self || linked.has(id));
  const known = new Set([...nodes.map(({ id }) => id), ...shown.map(({ relation: { id } }) => id)]);
  cy.elements()
    .filter((element) => !known.has(element.id()))
    .remove();
  const before = cy.elements().length;
  for (const { id, name, self } of nodes) {
    if (cy.getElementById(id).empty()) cy.add({ data: { id, name }, classes: self ? 'self' : '' });
  }
  const drawn = new Set(nodes.map(({ id }) => id));
  for (const { relation, ended } of shown) {
    const { id, relationship, source, destination } = relation;
    if (!drawn.has(source.id) || !drawn.has(destination.id)) continue;
    const data = { id, source: source.id, target: destination.id, name: relationship.replaceAll('_', ' ') };
    if (cy.getElementById(id).empty()) cy.add({ data });
    cy.getElementById(id).toggleClass('ended', ended);
  }
  if (cy.elements().length === before) return;
  if (before === 0) placeApart(cy, nodes);
  cy.layout({
    name: 'cose',
    animate: false,
    padding: 40,
    nodeDimensionsIncludeLabels: true,
    nodeRepulsion: () => 20_000,
    idealEdgeLength: () => 110,
  }).run();
}

/** Forces alone leave some of them one upon the other: they begin from places in rings around the owner. */
function placeApart(cy: Core, nodes: readonly Entity[]): void {
  const roots = nodes.filter(({ self }) => self).map(({ id }) => id);
  cy.layout({ name: 'breadthfirst', circle: true, animate: false, ...(roots.length > 0 && { roots }) }).run();
}

/** The colours of the page, which a canvas does not inherit. */
function styleOf(element: Element): StylesheetJson {
  const colour = (name: string): string => {
    const probe = document.createElement('span');
    probe.style.color = `var(--${name})`;
    element.append(probe);
    const found = getComputedStyle(probe).color;
    probe.remove();
    return found;
  };
  const [ink, quiet, act, back, card] = [colour('ink'), colour('quiet'), colour('act'), colour('back'), colour('card')];
  return [
    {
      selector: 'node',
      style: {
        label: 'data(name)',
        color: ink,
        'background-color': quiet,
        'font-size': 13,
        'text-valign': 'bottom',
        'text-margin-y': 4,
        width: 22,
        height: 22,
      },
    },
    { selector: 'node.self', style: { 'background-color': act, width: 30, height: 30 } },
    { selector: 'node.chosen', style: { 'border-width': 4, 'border-color': act } },
    {
      selector: 'edge',
      style: {
        label: 'data(name)',
        color: quiet,
        'font-size': 11,
        'text-background-color': card,
        'text-background-opacity': 0.85,
        width: 1.5,
        'line-color': quiet,
        'target-arrow-color': quiet,
        'target-arrow-shape': 'triangle',
        'curve-style': 'bezier',
      },
    },
    { selector: 'edge.ended', style: { 'line-style': 'dashed', opacity: 0.55, 'text-background-color': back } },
  ];
}

/** Everything that is read of graphs. */
const GRAPH = ['graph'] as const;

/** One entity: how it is called, and what it was merged with. */
function AboutEntity({ entity }: { readonly entity: Entity }) {
  const { id, name, kind, self, aliases } = entity;
  const isOffered = mayChange(useWho());
  return (
    <section className="card" aria-label={name}>
      <h2>
        {name} <span className="tag">{self ? 'the user' : kind}</span>
      </h2>
      {aliases.length > 0 && (
        <>
          <p>Also called {aliases.join(', ')}.</p>
          {isOffered && !self && (
            <Action run={() => api.graph.split(id)} touches={[GRAPH]}>
              Undo merge
            </Action>
          )}
        </>
      )}
    </section>
  );
}

/** Relations in words, each with what somebody said. */
function RelationList({ shown }: { readonly shown: readonly Shown[] }) {
  if (shown.length === 0) return <p className="quiet">There are no relations at this time.</p>;
  return (
    <ul className="plain">
      {shown.map(({ relation, ended }) => (
        <li key={relation.id}>
          <details>
            <summary>
              {relation.text} {ended && <span className="tag">ended</span>}
            </summary>
            <Behind relation={relation} />
          </details>
        </li>
      ))}
    </ul>
  );
}

/** Where a relation comes from, and how to put it right. */
function Behind({ relation }: { readonly relation: Relation }) {
  const { id, quote, valid_from: from, invalid_at: until, memory_ids: memories, message_ids: messages } = relation;
  const isOffered = mayChange(useWho());
  return (
    <div className="behind">
      {quote !== null && <blockquote>{quote}</blockquote>}
      <p className="quiet">
        since <Day iso={from} />
        {until !== null && (
          <>
            , until <Day iso={until} />
          </>
        )}
      </p>
      {messages[0] !== undefined && <Message id={messages[0]} />}
      <p className="row">
        {memories.map((memory) => (
          <Link key={memory} href={`/memories/${memory}`}>
            Memory
          </Link>
        ))}
        {isOffered && until === null && (
          <Action run={() => api.graph.delete(id)} touches={[GRAPH]} kind="danger">
            Never true
          </Action>
        )}
      </p>
    </div>
  );
}

/** The message that a relation was read from. */
function Message({ id }: { readonly id: string }) {
  const around = useQuery({
    queryKey: [...GRAPH, 'message', id],
    queryFn: ({ signal }) => api.memories.messages(id, { before: 0, after: 0 }, { signal }),
  });
  if (around.error !== null) return <Problem error={around.error} />;
  const [message] = around.data?.results ?? [];
  if (message === undefined) return null;
  return (
    <p className="text">
      <span className="quiet">{message.role}:</span> {message.content}
    </p>
  );
}

/** Pairs of entities that may be one, for a person to decide. */
function Proposals({ user }: { readonly user: string }) {
  const isOffered = mayChange(useWho());
  const proposals = useQuery({
    queryKey: [...GRAPH, 'proposals', user],
    queryFn: ({ signal }) => api.graph.proposals({ user_id: user }, { signal }),
  });
  if (proposals.error !== null) return <Problem error={proposals.error} retry={() => proposals.refetch()} />;
  const pairs = proposals.data?.results ?? [];
  if (pairs.length === 0) return null;
  return (
    <section className="card" aria-label="Possible duplicates">
      <h2>Possible duplicates</h2>
      <ul className="plain">
        {pairs.map(({ source, destination }) => (
          <li key={`${source.id} ${destination.id}`} className="row">
            <span>
              {source.name} and {destination.name}
            </span>
            {isOffered && (
              <>
                <Action run={() => api.graph.merge(source.id, { into: destination.id })} touches={[GRAPH]}>
                  Same
                </Action>
                <Action run={() => api.graph.split(source.id)} touches={[GRAPH]}>
                  Different
                </Action>
              </>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
