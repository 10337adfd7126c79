import type { RawEntity } from '../../models/parse/graph.ts';
import type { Remark } from '../../plan.ts';
import { kindOf } from '../entity-kinds.ts';
import { isInflectedIn, isNamedIn, isSelfName, nameKey, nameOf, SELF_NAME } from '../names.ts';
import type { Entity } from '../words.ts';
import type { Mention } from './values.ts';

/** What the model was shown of the graph. */
export interface Knowing {
  /** By their ids in the call. */
  readonly known: ReadonlyMap<string, Entity>;
  /** Of others, by their names: the ends of relations. */
  readonly names: readonly string[];
}

/** More in one study are no conversation any more. */
const MENTIONS_MAX = 200;
/** Longer than what anybody wants to read of what was refused. In characters. */
export const ASKED_MAX = 200;

/** All that is mentioned in a study, each once, by all of its names. */
export class Roll {
  readonly mentions: Mention[] = [];
  readonly #places = new Map<string, number>();
  readonly #known: Knowing['known'];
  readonly #names: ReadonlySet<string>;
  readonly #remarks: Remark[];

  constructor({ known, names }: Knowing, remarks: Remark[]) {
    const ofKnown = [...known.values()].flatMap(({ name, aliases }) => [name, ...aliases]);
    this.#known = known;
    this.#names = new Set([...names, ...ofKnown].map(nameKey));
    this.#remarks = remarks;
  }

  /** The place of a name among the mentions; null: nobody was mentioned under it. */
  find(name: string): number | null {
    const own = isSelfName(name) ? SELF_NAME : nameOf(name);
    return own === null ? null : (this.#places.get(nameKey(own)) ?? null);
  }

  /** Takes an entity in, where a message names it or it was shown as known; null: it is refused, which is told. */
  add(raw: RawEntity, text: string): number | null {
    const entity = this.#known.get(raw.known ?? '') ?? null;
    if (isSelfName(raw.name)) return this.#enter(selfCalled(this.#aliasesOf(raw.aliases, text)));
    if (entity?.self === true) return this.#enter(selfCalled(this.#aliasesOf([raw.name, ...raw.aliases], text)));
    const name = nameOf(raw.name);
    if (name === null) return this.#refuse(raw.name, 'it is no name');
    if (!this.#isNamed(name, text)) return this.#refuse(name, 'no message names it');
    const aliases = this.#aliasesOf(raw.aliases, text).filter((alias) => nameKey(alias) !== nameKey(name));
    return this.#enter({ name, aliases, kind: kindOf(raw.kind), self: false, known: entity });
  }

  #enter(mention: Mention): number | null {
    const at = this.#places.get(nameKey(mention.name)) ?? this.mentions.length;
    if (at >= MENTIONS_MAX) return this.#refuse(mention.name, `more than ${MENTIONS_MAX} entities in one study`);
    this.mentions[at] = joined(this.mentions[at], mention);
    for (const name of [mention.name, ...mention.aliases]) {
      if (!this.#places.has(nameKey(name))) this.#places.set(nameKey(name), at);
    }
    return at;
  }

  #aliasesOf(aliases: readonly string[], text: string): readonly string[] {
    return aliases
      .flatMap((alias) => nameOf(alias) ?? [])
      .filter((alias) => !isSelfName(alias) && this.#isNamed(alias, text));
  }

  #isNamed(name: string, text: string): boolean {
    const key = nameKey(name);
    return isNamedIn(key, text) || this.#names.has(key) || isInflectedIn(key, text);
  }

  #refuse(asked: string, why: string): null {
    this.#remarks.push({ asked: asked.slice(0, ASKED_MAX).toWellFormed(), did: `refused: ${why}` });
    return null;
  }
}

const selfCalled = (aliases: readonly string[]): Mention => ({
  name: SELF_NAME,
  aliases,
  kind: 'person',
  self: true,
  known: null,
});

/** What was said of it before counts where the later says less. */
const joined = (before: Mention | undefined, mention: Mention): Mention =>
  before === undefined
    ? mention
    : {
        ...before,
        aliases: [...new Set([...before.aliases, ...mention.aliases])],
        kind: before.kind === 'thing' ? mention.kind : before.kind,
        known: before.known ?? mention.known,
      };
