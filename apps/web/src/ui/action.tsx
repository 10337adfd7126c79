import { type QueryKey, useMutation } from '@tanstack/react-query';
import type { FormEvent, ReactNode } from 'react';
import { queries } from '../api.ts';
import { Problem } from './states.tsx';

/** One call of the API that changes something. */
interface Call<T> {
  readonly run: () => Promise<T>;
  /** What is read again after it, by the beginnings of its keys. The button keeps running until that is there. */
  readonly touches?: readonly QueryKey[];
  /** Runs before anything is read again: a page that is gone then is left here. */
  readonly done?: (answer: T) => void;
}

interface Looks {
  /** How much it weighs: what the page is for, or what takes something away. */
  readonly kind?: 'main' | 'danger' | undefined;
  readonly disabled?: boolean | undefined;
}

interface ActionButton<T> extends Call<T>, Looks {
  /** Of one that switches something: whether it is on. */
  readonly pressed?: boolean | undefined;
  /** A single key that presses it, where its page listens to such keys. */
  readonly shortcut?: string;
  readonly children: ReactNode;
}

/** A button that runs one call, shows that it runs, and shows its problem. */
export function Action<T>({ children, kind, pressed, disabled = false, shortcut, ...call }: ActionButton<T>) {
  const { mutate, isPending, error } = useCall(call);
  return (
    <>
      <button
        type="button"
        className={kind}
        aria-pressed={pressed}
        disabled={disabled || isPending}
        onClick={() => mutate()}
        {...(shortcut !== undefined && { 'data-key': shortcut, 'aria-keyshortcuts': shortcut })}
      >
        {children}
        {isPending && <Running />}
      </button>
      {error !== null && <Problem error={error} />}
    </>
  );
}

interface FormOfCall<T> extends Call<T>, Looks {
  /** What its button says. */
  readonly submit: string;
  readonly cancel?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** Fields that one call sends, with its button, and one to leave it. Enter sends it too. */
export function ActionForm<T>({ submit, cancel, kind = 'main', disabled = false, children, ...call }: FormOfCall<T>) {
  const { mutate, isPending, error } = useCall(call);
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!disabled && !isPending) mutate();
  };
  return (
    <form className="fields" onSubmit={send}>
      {children}
      {error !== null && <Problem error={error} />}
      <div className="row">
        <button type="submit" className={kind} disabled={disabled || isPending}>
          {submit}
          {isPending && <Running />}
        </button>
        {cancel !== undefined && (
          <button type="button" onClick={cancel}>
            Cancel
          </button>
        )}
      </div>
    </form>
  );
}

function useCall<T>({ run, touches = [], done }: Call<T>) {
  return useMutation({
    mutationFn: run,
    onSuccess: async (answer) => {
      done?.(answer);
      await Promise.all(touches.map((queryKey) => queries.invalidateQueries({ queryKey })));
    },
  });
}

const Running = () => <span role="status"> …</span>;
