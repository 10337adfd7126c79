import type { GraphStore } from '../ports/ledger/graph.ts';
import { cleanText, normaliseText } from '../text/normalise.ts';
import { remembering } from '../text/terms.ts';
import type { LaneId, TenantId } from '../words.ts';
import type { Entity, EntityKind } from './words.ts';

/** Longer ones are sentences, not names. In characters. */
const NAME_MAX = 100;

/** The name the owner's own entity has before it is called anything else. */
export const SELF_NAME = 'User';

/** A name as it is kept: one line, without quotes and stops around it, or "my" before it; null where nothing is left of it. */
export function nameOf(text: string): string | null {
  const line = cleanText(text).replace(/\s+/gu, ' ').trim();
  const bare = line
    .replace(AROUND, '')
    .replace(/^(?:my|our)\s+(?=\S)/iu, '')
    .replace(/^我们?的(?=.)/u, '');
  return bare === '' || bare.length > NAME_MAX || !/[\p{L}\p{N}]/u.test(bare) || NO_NAME.test(bare) ? null : bare;
}

const AROUND = /^["'“”‘’«»「」『』([{<.,;:!?、。，！？\s]+|["'“”‘’«»「」『』)\]}>,;:!?、。，！？\s]+$/gu;
/** Words that stand for a name. */
const NO_NAME =
  /^(?:he|she|it|they|him|her|them|his|hers|its|their|theirs|this|that|these|those|there|here|who|what|someone|somebody|something|everyone|everybody|nobody|unknown|none|null|n\/a|他|她|它|他们|她们|它们|这|那|这里|那里|这个|那个|谁|什么|有人|大家)$/iu;

/** Whether it is how somebody speaks of themselves, or how a model calls them. */
export const isSelfName = (name: string): boolean => SELF.test(normaliseText(name));
const SELF =
  /^(?:i|me|my|mine|myself|self|(?:the )?user|(?:the )?speaker|(?:the )?human|user's?|we|us|我|我们|自己|本人|俺|咱|咱们|用户|使用者)$/u;

/** The form in which names are looked up: two with the same are spelt alike. */
export const nameKey = (name: string): string => keys(name, () => normaliseText(name));

/**
 * What is left of a name without what people leave out or put in as they like: accents, titles, articles, legal forms,
 * stops between initials. Two names of the same kind with the same rest are one.
 */
export const aliasKey = (name: string, kind: EntityKind): string =>
  aliasKeys(`${kind} ${name}`, () => undressed(name, kind));

/** Each name of an owner is compared with each that is mentioned; longer ones than these are whole texts. */
const KEPT = { max: 20_000, length: 200 } as const;
const keys = remembering<string>(KEPT);
const aliasKeys = remembering<string>(KEPT);

function undressed(name: string, kind: EntityKind): string {
  const plain = normaliseText(name)
    .normalize('NFKD')
    .replace(/(?<=\p{Script=Latin}\p{M}*)\p{M}+/gu, '')
    .normalize('NFC')
    .replace(/[øœæßłđ]/gu, (letter) => PLAIN[letter] ?? letter)
    .replace(/['’`]s(?=\s|$)/gu, '')
    .replace(/['’`]/gu, '')
    .replace(/(?<=\b\p{L})\.(?=\s?\p{L}\b)/gu, '')
    .replace(/[&＆]/gu, ' and ')
    .replace(/[\p{P}\p{S}]+/gu, ' ')
    .replace(/\s+/gu, ' ')
    .trim();
  return withoutDress(plain, kind) || plain || normaliseText(name);
}

const PLAIN: Readonly<Record<string, string>> = { ø: 'o', œ: 'oe', æ: 'ae', ß: 'ss', ł: 'l', đ: 'd' };

function withoutDress(plain: string, kind: EntityKind): string {
  const bare = plain.replace(/^(?:the|a|an) (?=\S)/u, '');
  if (kind === 'person')
    return bare
      .replace(TITLES, '')
      .replace(/ (?:jr|sr|phd|md|ii|iii)$/u, '')
      .replace(HAN_TITLES, '$1');
  if (kind === 'organisation') return bare.replace(LEGAL, '').replace(HAN_LEGAL, '$1');
  return kind === 'place'
    ? bare
        .replace(/^(?:city|town) of (?=\S)/u, '')
        .replace(/ city$/u, '')
        .replace(HAN_PLACES, '$1')
    : bare;
}

const TITLES =
  /^(?:(?:dr|mr|mrs|ms|miss|mx|prof|professor|doctor|sir|dame|aunt|auntie|uncle|herr|frau|monsieur|madame|senor|senora|don|dona) )+(?=\S)/u;
const LEGAL =
  /(?: (?:inc|incorporated|corp|corporation|co|company|ltd|limited|llc|llp|plc|gmbh|ag|kg|sa|sas|sarl|bv|nv|ab|as|asa|oy|spa|srl|pty|group|holding|holdings))+$/u;
const HAN_TITLES = /^(\p{Script=Han}{1,3})(?:先生|女士|小姐|老师|医生|教授|同学)$/u;
const HAN_LEGAL = /^(\p{Script=Han}{2,}?)(?:(?:股份|集团|责任)*(?:有限)?公司|集团)$/u;
const HAN_PLACES = /^(\p{Script=Han}{2,})(?:市|省|县)$/u;

/** Whether a name stands in a text, as words of their own where its script parts words. Both normalised. */
export function isNamedIn(key: string, text: string): boolean {
  for (let at = text.indexOf(key); at !== -1 && key !== ''; at = text.indexOf(key, at + 1)) {
    const end = at + key.length;
    // Two units of each side: a letter may take as many.
    if (
      isApart(text.slice(Math.max(0, at - 2), at), key.slice(0, 2)) &&
      isApart(key.slice(-2), text.slice(end, end + 2))
    ) {
      return true;
    }
  }
  return false;
}

/** The same, for a name as a dictionary has it: its words may stand in the text with other endings. */
export const isInflectedIn = (key: string, text: string): boolean =>
  key.split(' ').every((word) => new RegExp(`(?<![\\p{L}\\p{N}])${escaped(stemOf(word))}`, 'u').test(text));

const stemOf = (word: string): string => word.slice(0, Math.max(STEM_MIN, word.length - ENDING_MAX));
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\/-]/gu, '\\$&');
/** Letters that an ending has at most, and that a word keeps at least. */
const ENDING_MAX = 2;
const STEM_MIN = 3;

const isApart = (left: string, right: string): boolean => !(SPACED_END.test(left) && SPACED_START.test(right));
/** Letters of scripts that put spaces between words. */
const SPACED_END = /(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]$/u;
const SPACED_START = /^(?![\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}])[\p{L}\p{N}]/u;

/** An entity by what is known of it. */
export type KnownEntity =
  | { readonly kind: 'id'; readonly id: string }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'self' };

type Reading = Pick<GraphStore, 'entities' | 'named' | 'self'>;

/** The entities of a lane that are meant, each as the one it stands for. None: there is none. */
export async function entitiesMeant(
  graph: Reading,
  { tenant, lane }: { readonly tenant: TenantId; readonly lane: LaneId },
  known: KnownEntity,
): Promise<readonly Entity[]> {
  if (known.kind === 'name') return graph.named(lane, [normaliseText(known.name)]);
  const found = known.kind === 'self' ? await graph.self(lane) : await entityOf(graph, tenant, known.id);
  if (found === null || found.lane !== lane) return [];
  const standing = found.mergedInto === null ? found : await entityOf(graph, tenant, found.mergedInto);
  return standing === null ? [] : [standing];
}

const entityOf = async (graph: Reading, tenant: TenantId, id: string): Promise<Entity | null> =>
  (await graph.entities(tenant, [id]))[0] ?? null;
