/** What profileRank of the engine gives, for memories from before there were ranks. */
export const RANK_EARLIER = `
UPDATE memories m SET profile_rank = known.told + known.lasting + 10 * least(m.confirmations, 9)
FROM (
  SELECT v.memory_id,
    CASE WHEN k.timeline @? '$[*].details.pinned ? (@ == true)' THEN 1000 ELSE 0 END
      + CASE WHEN v.details ->> 'immutable' = 'true' THEN 500 ELSE 0 END AS told,
    CASE WHEN l.owner_kind = 'user' AND v.details ->> 'about' = 'agent' THEN 0 ELSE
      CASE v.details ->> 'category' WHEN 'personal_details' THEN 30 WHEN 'health' THEN 25 WHEN 'family' THEN 20
        WHEN 'professional_details' THEN 15 WHEN 'user_preferences' THEN 15 ELSE 0 END END AS lasting
  FROM memories k JOIN versions v ON v.memory_id = k.id AND v.superseded_by IS NULL JOIN lanes l ON l.id = k.lane
  WHERE k.live
) known
WHERE m.id = known.memory_id AND (known.told + known.lasting > 0 OR m.confirmations > 1)`;

/** What a prompt is told of an owner at once: how much a memory belongs to the profile, and what is under way in a lane. */
export const SCHEMA_12 = `
ALTER TABLE memories ADD COLUMN profile_rank bigint NOT NULL DEFAULT 0;
${RANK_EARLIER};
CREATE INDEX memories_of_profile ON memories (lane, profile_rank DESC, created_at, id) WHERE live AND profile_rank > 0;
CREATE INDEX batches_consolidating ON batches (lane, position) WHERE state = 'consolidating';
`;
