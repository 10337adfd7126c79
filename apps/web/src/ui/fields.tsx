import { type ReactNode, useId } from 'react';

interface Field {
  readonly name: string;
  /** What it does, in a sentence. */
  readonly hint?: string;
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
export const LongText = ({ value, change, rows = 3, ...field }: Of<string | null> & { readonly rows?: number }) => (
  <Labelled {...field}>
    {(id, hint) => (
      <textarea
        id={id}
        aria-describedby={field.hint && hint}
        rows={rows}
        value={value ?? ''}
        onChange={({ target }) => change(target.value.trim() === '' ? null : target.value)}
      />
    )}
  </Labelled>
);

/** A line of text; empty is none. */
export const Line = ({ value, change, type = 'text', ...field }: Of<string | null> & { readonly type?: string }) => (
  <Labelled {...field}>
    {(id, hint) => (
      <input
        id={id}
        type={type}
        aria-describedby={field.hint && hint}
        autoComplete="off"
        value={value ?? ''}
        onChange={({ target }) => change(target.value === '' ? null : target.value)}
      />
    )}
  </Labelled>
);

interface Counted {
  /** What an empty field means. */
  readonly empty?: string;
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
