import { type QueryKey, useMutation } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useLayoutEffect, useRef, useState } from 'react';
import { queries } from '../api.ts';
import { Problem } from './reading.tsx';

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
        {...keyOf(shortcut)}
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

interface Window {
  readonly title: string;
  /** Escape and its buttons: whoever shows it stops showing it. */
  readonly close: () => void;
  readonly children: ReactNode;
}

/** A window above the page, which keeps the keyboard until it is closed and then gives it back. */
function Dialog({ title, close, children }: Window) {
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

interface Asked<T> extends Window, Call<T>, Looks {
  /** What its button says: the deed by its name, not "OK". */
  readonly submit: string;
}

/** Fields in a window, which closes once they are sent. */
export const FormDialog = <T,>({ title, close, children, ...form }: Asked<T>) => (
  <Dialog title={title} close={close}>
    <ActionForm
      {...form}
      cancel={close}
      done={(answer) => {
        close();
        form.done?.(answer);
      }}
    >
      {children}
    </ActionForm>
  </Dialog>
);

/** Asks before something is done. What it shows is what will fall; `word` has to be typed before what cannot be taken back. */
export function Confirm<T>({ children, word, disabled = false, ...asked }: Asked<T> & { readonly word?: string }) {
  const [typed, setTyped] = useState('');
  const field = useId();
  return (
    <FormDialog {...asked} kind="danger" disabled={disabled || (word !== undefined && typed !== word)}>
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
    </FormDialog>
  );
}

interface Way extends Looks {
  readonly children: ReactNode;
  /** What it opens, as long as nobody closes it. */
  readonly window: (close: () => void) => ReactNode;
  readonly shortcut?: string;
  readonly label?: string;
}

/** A button that opens a window. */
export function Opens({ children, window, kind, label, shortcut }: Way) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className={kind} aria-label={label} {...keyOf(shortcut)} onClick={() => setOpen(true)}>
        {children}
      </button>
      {isOpen && window(() => setOpen(false))}
    </>
  );
}

const keyOf = (shortcut: string | undefined) =>
  shortcut !== undefined && { 'data-key': shortcut, 'aria-keyshortcuts': shortcut };

interface Field {
  readonly name: string;
  /** What it does, in a sentence. */
  readonly hint?: string;
}

interface Empty {
  /** What an empty field means. */
  readonly empty?: string;
}

interface Of<T> extends Field {
  readonly value: T;
  readonly change: (value: T) => void;
}

/** A label, what it labels, and what it does. */
function Labelled({ name, hint, children }: Field & { readonly children: (id: string, hint: string) => ReactNode }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{name}</label>
      {children(id, `${id}-hint`)}
      {hint !== undefined && (
        <p id={`${id}-hint`} className="quiet hint">
          {hint}
        </p>
      )}
    </div>
  );
}

/** A long text; empty is none. */
export const LongText = ({
  value,
  change,
  rows = 3,
  empty,
  ...field
}: Of<string | null> & Empty & { readonly rows?: number }) => (
  <Labelled {...field}>
    {(id, hint) => (
      <textarea
        id={id}
        aria-describedby={field.hint && hint}
        rows={rows}
        placeholder={empty}
        value={value ?? ''}
        onChange={({ target }) => change(target.value.trim() === '' ? null : target.value)}
      />
    )}
  </Labelled>
);

/** A line of text; empty is none. */
export const Line = ({
  value,
  change,
  type = 'text',
  empty,
  ...field
}: Of<string | null> & Empty & { readonly type?: string }) => (
  <Labelled {...field}>
    {(id, hint) => (
      <input
        id={id}
        type={type}
        aria-describedby={field.hint && hint}
        autoComplete="off"
        spellCheck={false}
        placeholder={empty}
        value={value ?? ''}
        onChange={({ target }) => change(target.value === '' ? null : target.value)}
      />
    )}
  </Labelled>
);

interface Counted extends Empty {
  readonly min?: number;
  readonly step?: number | 'any';
}

/** A number; empty is no limit. */
export const Amount = ({ value, change, empty = 'none', min = 0, step = 1, ...field }: Of<number | null> & Counted) => (
  <Labelled {...field}>
    {(id, hint) => (
      <input
        id={id}
        type="number"
        inputMode="decimal"
        min={min}
        step={step}
        placeholder={empty}
        aria-describedby={field.hint && hint}
        value={value ?? ''}
        onChange={({ target }) => change(target.value === '' ? null : Number(target.value))}
      />
    )}
  </Labelled>
);

interface Numbers<Part> extends Counted {
  readonly of: Part;
  readonly fields: { readonly [Name in keyof Part]: Field & Counted };
  readonly change: (next: Part) => void;
}

/** A number for each field of something. */
export const Amounts = <Part extends { readonly [Name in keyof Part]: number | null }>({
  of,
  fields,
  change,
  ...usual
}: Numbers<Part>) =>
  (Object.keys(fields) as (keyof Part & string)[]).map((name) => (
    <Amount
      key={name}
      {...usual}
      {...fields[name]}
      value={of[name]}
      change={(value) => change({ ...of, [name]: value })}
    />
  ));

/** One of a few. */
export const Select = <T extends string>({
  value,
  change,
  options,
  ...field
}: Of<T> & { readonly options: Readonly<Record<T, string>> }) => (
  <Labelled {...field}>
    {(id, hint) => (
      <select
        id={id}
        aria-describedby={field.hint && hint}
        value={value}
        onChange={({ target }) => change(target.value as T)}
      >
        {(Object.entries(options) as [T, string][]).map(([option, text]) => (
          <option key={option} value={option}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Labelled>
);

/** Any of a few. */
export const Several = <T extends string>({
  name,
  hint,
  value,
  change,
  options,
}: Of<readonly T[]> & { readonly options: readonly T[] }) => (
  <fieldset className="several">
    <legend>{name}</legend>
    {options.map((option) => (
      <label key={option}>
        <input
          type="checkbox"
          checked={value.includes(option)}
          onChange={({ target }) =>
            change(options.filter((one) => (one === option ? target.checked : value.includes(one))))
          }
        />{' '}
        {option}
      </label>
    ))}
    {hint !== undefined && <p className="quiet hint">{hint}</p>}
  </fieldset>
);

interface Shown {
  readonly secret: string;
  readonly title?: string;
  /** What else there is to know about it. */
  readonly children?: ReactNode;
  readonly close: () => void;
}

/** Shown once: nobody can read it again, this server neither. */
export function Secret({ secret, title = 'Secret', close, children }: Shown) {
  const [isCopied, setIsCopied] = useState(false);
  return (
    <Dialog title={title} close={close}>
      {children}
      <p>Copy it now. It is shown only once.</p>
      <pre className="wrap">{secret}</pre>
      <div className="row after">
        {'clipboard' in navigator && (
          <button
            type="button"
            onClick={() => void navigator.clipboard.writeText(secret).then(() => setIsCopied(true))}
          >
            {isCopied ? 'Copied' : 'Copy'}
          </button>
        )}
        <button type="button" className="main" onClick={close}>
          Done
        </button>
      </div>
    </Dialog>
  );
}
