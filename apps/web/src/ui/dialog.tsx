import { type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { ActionForm } from './action.tsx';

interface Window {
  readonly title: string;
  /** Escape and its buttons: whoever shows it stops showing it. */
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A window above the page, which keeps the keyboard until it is closed and then gives it back. */
export function Dialog({ title, close, children }: Window) {
  const element = useRef<HTMLDialogElement>(null);
  const name = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // Closed before it is taken away: only then the focus returns to where it was.
    return () => dialog?.close();
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={name}
      // Escape: it is closed by being taken away. Closing by itself, it would say so only a moment later, when somebody has opened it again.
      onCancel={(event) => {
        event.preventDefault();
        close();
      }}
      onClose={({ currentTarget }) => currentTarget.open || close()}
    >
      <h2 id={name}>{title}</h2>
      {children}
    </dialog>
  );
}

interface Question<T> extends Window {
  readonly run: () => Promise<T>;
  readonly touches?: readonly (readonly unknown[])[];
  readonly done?: (answer: T) => void;
  /** What its button says: the deed by its name, not "OK". */
  readonly submit: string;
  /** What has to be typed before, for what cannot be taken back. */
  readonly word?: string;
  readonly disabled?: boolean;
}

/** Asks before something is done. What it shows is what will fall. */
export function Confirm<T>({ title, close, children, word, disabled = false, ...call }: Question<T>) {
  const [typed, setTyped] = useState('');
  const field = useId();
  return (
    <Dialog title={title} close={close}>
      <ActionForm
        {...call}
        kind="danger"
        disabled={disabled || (word !== undefined && typed !== word)}
        cancel={close}
        done={(answer) => {
          close();
          call.done?.(answer);
        }}
      >
        {children}
        {word !== undefined && (
          <div>
            <label htmlFor={field}>
              Type <code>{word}</code> to confirm
            </label>
            <input
              id={field}
              value={typed}
              autoComplete="off"
              spellCheck={false}
              onChange={({ target }) => setTyped(target.value)}
            />
          </div>
        )}
      </ActionForm>
    </Dialog>
  );
}
