import type { Entity } from '@slowwave/sdk';
import cytoscape, { type Core, type StylesheetJson } from 'cytoscape';
import { useEffect, useRef } from 'react';
import type { Shown } from './at-time.ts';

interface Drawn {
  readonly entities: readonly Entity[];
  readonly shown: readonly Shown[];
  /** The entity that is looked at; null: none. */
  readonly chosen: string | null;
  readonly choose: (entity: string | null) => void;
}

/** The graph as a picture: what is clicked is looked at. The lists beside it say the same in words. */
export function Picture({ entities, shown, chosen, choose }: Drawn) {
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
