import { useEffect, useRef, useState } from 'react';

const MOVES: Readonly<Record<string, number>> = { j: 1, k: -1 };
const KEPT_AS = 'slowwave.keys';

/**
 * Single keys for a list of articles: j and k move the focus between them, others press the buttons of the one that has it, which carry
 * them as `data-key`. They can be switched off, for those whose software types letters, and never count while somebody types or a
 * dialog is open.
 */
export function useShortcuts() {
  const list = useRef<HTMLOListElement>(null);
  const [isOn, setOn] = useState(() => localStorage.getItem(KEPT_AS) !== 'off');
  useEffect(() => {
    if (!isOn) return;
    // What was decided goes, and the focus with it: the next key goes on where it was.
    let last = -1;
    const heard = (event: KeyboardEvent): void => {
      if (event.ctrlKey || event.metaKey || event.altKey || isBusy(event.target)) return;
      const place = placeIn(list.current, last);
      if (!(moves(event.key, place) || presses(event.key, place))) return;
      last = place.at;
      event.preventDefault();
    };
    addEventListener('keydown', heard);
    return () => removeEventListener('keydown', heard);
  }, [isOn]);
  const turn = (on: boolean): void => {
    localStorage.setItem(KEPT_AS, on ? 'on' : 'off');
    setOn(on);
  };
  return { list, isOn, turn };
}

const isBusy = (target: EventTarget | null): boolean =>
  target instanceof Element && target.closest('input:not([type=checkbox]), textarea, select, dialog') !== null;

interface Place {
  readonly items: readonly HTMLElement[];
  /** Of the item that has the focus, or took the place of the one that had it. -1: nobody was there yet. */
  at: number;
  readonly isFocused: boolean;
}

function placeIn(list: HTMLElement | null, last: number): Place {
  const items = [...(list?.querySelectorAll<HTMLElement>('article') ?? [])];
  const focused = items.findIndex((item) => item.contains(document.activeElement));
  return { items, at: focused >= 0 ? focused : Math.min(last, items.length - 1), isFocused: focused >= 0 };
}

function moves(key: string, place: Place): boolean {
  const step = MOVES[key];
  if (step === undefined || place.items.length === 0) return false;
  const next = place.isFocused || place.at < 0 ? place.at + step : place.at;
  place.at = Math.max(0, Math.min(place.items.length - 1, next));
  place.items[place.at]?.focus();
  return true;
}

function presses(key: string, { items, at }: Place): boolean {
  const button = items[at]?.querySelector<HTMLButtonElement>(`[data-key="${CSS.escape(key)}"]`) ?? null;
  button?.click();
  return button !== null;
}
