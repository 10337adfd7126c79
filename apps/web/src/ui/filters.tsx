import { type ReactNode, useId } from 'react';
import { useSearchParams } from 'wouter';
import { useWho } from '../api.ts';

/** What a list is narrowed to. It stands in the address, so that it can be bookmarked and sent to somebody. */
export function useFilters<Name extends string>(names: readonly Name[]) {
  const [params, setParams] = useSearchParams();
  // A key for one user may ask for nobody else.
  const { user_id: bound } = useWho();
  const chosenOf = (name: Name) => (name === 'user' && bound !== null ? bound : params.get(name));
  const chosen = Object.fromEntries(
    names.flatMap((name) => (chosenOf(name) ? [[name, chosenOf(name)]] : [])),
  ) as Partial<Record<Name, string>>;
  const choose = (change: Partial<Record<Name, string>>): void => {
    const next = Object.entries({ ...chosen, ...change }).filter((entry): entry is [string, string] => !!entry[1]);
    setParams(new URLSearchParams(next), { replace: true });
  };
  return { chosen, choose };
}

/** Fields above a list. They take effect at once. */
export const Filters = ({ children }: { readonly children: ReactNode }) => (
  <form className="row filters" onSubmit={(event) => event.preventDefault()}>
    {children}
  </form>
);

interface Field {
  readonly name: string;
  readonly value: string | undefined;
  readonly choose: (value: string) => void;
}

/** One of a few, or any. */
export function OneOf({ name, value = '', options, choose }: Field & { readonly options: readonly string[] }) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{name}</label>
      <select id={id} value={value} onChange={({ target }) => choose(target.value)}>
        <option value="">any</option>
        {options.map((option) => (
          <option key={option}>{option}</option>
        ))}
      </select>
    </div>
  );
}

/** A text that has to be there as it is: it counts when somebody has typed all of it. */
export function Exact({ name, value = '', choose }: Field) {
  const id = useId();
  return (
    <div>
      <label htmlFor={id}>{name}</label>
      <input
        key={value}
        id={id}
        defaultValue={value}
        spellCheck={false}
        autoComplete="off"
        onBlur={({ target }) => choose(target.value.trim())}
        onKeyDown={({ key, currentTarget }) => key === 'Enter' && choose(currentTarget.value.trim())}
      />
    </div>
  );
}

interface Choices<T extends string> {
  /** What is chosen, for those who do not see it. */
  readonly name: string;
  readonly options: Readonly<Record<T, string>>;
  readonly chosen: T;
  readonly choose: (option: T) => void;
}

/** One of a few ways to look at something. */
export function Choice<T extends string>({ name, options, chosen, choose }: Choices<T>) {
  return (
    <fieldset className="row choice" aria-label={name}>
      {(Object.entries(options) as [T, string][]).map(([option, text]) => (
        <button key={option} type="button" aria-pressed={option === chosen} onClick={() => choose(option)}>
          {text}
        </button>
      ))}
    </fieldset>
  );
}
