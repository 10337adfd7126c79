import type { ReactNode } from 'react';

interface Content {
  /** What it holds, for those who reach it by keyboard. */
  readonly name: string;
  readonly card?: boolean;
  readonly children: ReactNode;
}

/** What may be wider than the page. It scrolls by itself, with the arrow keys too. */
export const Wide = ({ name, card = false, children }: Content) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
  <section className={card ? 'scroll card' : 'scroll'} aria-label={name} tabIndex={0}>
    {children}
  </section>
);
