import { useEffect, useLayoutEffect, useRef, useState } from 'react';

const MOVES: Readonly<Record<string, number>> = { j: 1, k: -1 };
const KEPT_AS = 'slowwave.keys';

/**
 * Single keys for a list of articles: j and k move the focus between them, others press the buttons of the one that has it, which carry
 * them as `data-key`. They can be switched off, for those whose software types letters, and never count while somebody types or a
 * dialog is open.
 */
export function useShortcuts() {
  const [isOn, setOn] = useState(() => localStorage.getItem(KEPT_AS) !== 'off');
  const list = useFocusKept();
  useEffect(() => {
    if (!isOn) return;
    const heard = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      if (moves(event.key, list.current) || presses(event.key, list.current)) event.preventDefault();
    };
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, [isOn, list]);
  const turn = (on: boolean): void => {
    localStorage.setItem(KEPT_AS, on ? 'on' : 'off');
    setOn(on);
  };
  return { list, isOn, turn };
}

const isBusy = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;

type List = HTMLOListElement | null;

const itemsIn = (list: List): readonly HTMLElement[] => [...(list?.querySelectorAll<HTMLElement>('article') ?? [])];

const focusedIn = (items: readonly HTMLElement[]): number =>
  items.findIndex((item) => item.contains(document.activeElement));

/** What was decided goes, and the focus with it: whoever had it goes on with what took its place. */
function useFocusKept() {
  const list = useRef<HTMLOListElement>(null);
  const held = useRef<{ readonly item: HTMLElement; readonly at: number } | null>(null);
  useEffect(() => {
    const element = list.current;
    const note = (): void => {
      const items = itemsIn(element);
      const at = focusedIn(items);
      const item = items[at];
      if (item !== undefined) held.current = { item, at };
    };
    element?.addEventListener('focusin', note);
    return () => element?.removeEventListener('focusin', note);
  }, []);
  useLayoutEffect(() => {
    const isElsewhere = document.activeElement !== null && document.activeElement !== document.body;
    if (held.current === null || held.current.item.isConnected || isElsewhere) return;
    const items = itemsIn(list.current);
    items[Math.min(held.current.at, items.length - 1)]?.focus();
  });
  return list;
}

function moves(key: string, list: List): boolean {
  const step = MOVES[key];
  const items = itemsIn(list);
  if (step === undefined || items.length === 0) return false;
  items[Math.max(0, Math.min(items.length - 1, focusedIn(items) + step))]?.focus();
  return true;
}

function presses(key: string, list: List): boolean {
  const items = itemsIn(list);
  const button = items[focusedIn(items)]?.querySelector<HTMLButtonElement>(`[data-key="${CSS.escape(key)}"]`) ?? null;
  button?.click();
  return button !== null;
}
