import {
  type Fact,
  type Fields,
  type Files,
  type Found,
  type Ids,
  isFields,
  leaving,
  listOf,
  momentIn,
  ownerOf,
  textIn,
} from './found.ts';

/**
 * Hindsight's archive of documents, unpacked: manifest.json, documents/*.json with their facts, observations.json. Or memory units as its API
 * lists them, in `items`.
 */
export function readHindsight(files: Files, user: string | null): Found {
  const left = leaving();
  const values = [...files.values()].filter((value) => value !== null && typeof value === 'object') as Fields[];
  const bank = values.map((value) => textIn(value, 'source_bank_id', 'bank_id')).find((name) => name !== null) ?? null;
  const ids: Ids = user === null && bank !== null ? { user_id: bank } : ownerOf(user, 'the export');
  const facts: Fact[] = [];
  for (const [file, value] of files) {
    for (const unit of unitsIn(value, file)) {
      const fact = factOf(unit, { ids, id: `${file}-${facts.length}` });
      if (fact === null) left.add('units', 'they have no text');
      else facts.push(fact);
    }
    for (const document of documentsIn(value)) {
      left.add('documents', 'their facts are imported; post the texts as conversations to read them again');
      left.add('causal relations', 'they link facts, and relations here link entities', causesIn(document));
    }
  }
  if (facts.length === 0) throw new Error('expected facts in documents/*.json, observations.json or items, got none');
  const lacks = ['who said a fact', 'former texts of facts', 'deletions', 'relations between entities'];
  return { facts, talks: [], relations: [], left: left.all(), lacks, isRead: true };
}

const documentsIn = (value: unknown): readonly Fields[] =>
  isFields(value) && Array.isArray(value.facts) ? [value] : listOf((value as Fields | null)?.documents);

const unitsIn = (value: unknown, file: string): readonly Fields[] => [
  ...documentsIn(value).flatMap(({ id, facts }) => listOf(facts).map((fact) => ({ ...fact, document: id }))),
  ...listOf((value as Fields | null)?.items),
  ...listOf((value as Fields | null)?.memory_units),
  ...(/observations|memory_units|items/.test(file) ? listOf(value) : []),
];

const causesIn = ({ facts }: Fields): number =>
  listOf(facts).reduce((sum, fact) => sum + listOf(fact.causal_relations).length, 0);

function factOf(unit: Fields, { ids, id }: { readonly ids: Ids; readonly id: string }): Fact | null {
  const text = textIn(unit, 'text');
  if (text === null) return null;
  const { tags, entities, metadata } = unit;
  const more = {
    ...{
      fact_type: textIn(unit, 'fact_type', 'type'),
      context: textIn(unit, 'context'),
      document: textIn(unit, 'document'),
    },
    ...{ until: momentIn(unit, 'occurred_end') },
    ...(Array.isArray(tags) && tags.length > 0 && { tags }),
    ...(Array.isArray(entities) && entities.length > 0 && { entities }),
  };
  return {
    ...{ id: textIn(unit, 'id') ?? id, ids, text, expiresAt: null },
    at: momentIn(unit, 'occurred_start', 'mentioned_at', 'event_date', 'created_at'),
    metadata: { ...more, ...(isFields(metadata) && metadata) },
  };
}
