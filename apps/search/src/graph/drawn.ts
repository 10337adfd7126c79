import { DRAWN_RELATIONS_MAX } from '@slowwave/contracts';
import { dotOf, type Entity, entityView, type KeptRelation, mermaidOf, relationView, svgOf } from '@slowwave/engine';

export type Format = 'json' | 'dot' | 'mermaid' | 'svg';

/** Part of a graph, as it was read. */
export interface Shown {
  readonly entities: readonly Entity[];
  readonly relations: readonly KeptRelation[];
  readonly truncated: boolean;
}

/** A text in the place of JSON. */
export interface Drawing {
  readonly type: string;
  readonly text: string;
}

/** The most that is read for a format: a drawing of more would show nothing. */
export const limitOf = (format: Format, limit: number): number =>
  format === 'svg' ? Math.min(limit, DRAWN_RELATIONS_MAX) : limit;

export function drawingOf(format: Exclude<Format, 'json'>, picture: Pick<Shown, 'entities' | 'relations'>): Drawing {
  switch (format) {
    case 'dot':
      return { type: 'text/vnd.graphviz; charset=utf-8', text: dotOf(picture) };
    case 'mermaid':
      return { type: 'text/vnd.mermaid; charset=utf-8', text: mermaidOf(picture) };
    case 'svg':
      return { type: 'image/svg+xml; charset=utf-8', text: svgOf(picture) };
  }
}

export const graphView = ({ entities, relations, truncated }: Shown) => ({
  entities: entities.map(entityView),
  relations: relations.map(relationView),
  truncated,
});
