/** What profileRank of the engine gives, for memories from before there were ranks. */
export const RANK_EARLIER = `
UPDATE memories SET profile_rank = coalesce((
  SELECT CASE WHEN told + lasting > 0 OR memories.confirmations > 1
    THEN told + lasting + 10 * min(memories.confirmations, 9) ELSE 0 END
  FROM (
    SELECT
      CASE WHEN memories.timeline LIKE '%"pinned":true%' THEN 1000 ELSE 0 END
        + CASE WHEN v.details ->> '$.immutable' THEN 500 ELSE 0 END AS told,
      CASE WHEN l.owner_kind = 'user' AND v.details ->> '$.about' = 'agent' THEN 0 ELSE
        CASE v.details ->> '$.category' WHEN 'personal_details' THEN 30 WHEN 'health' THEN 25 WHEN 'family' THEN 20
          WHEN 'professional_details' THEN 15 WHEN 'user_preferences' THEN 15 ELSE 0 END END AS lasting
    FROM versions v, lanes l
    WHERE v.memory_id = memories.id AND v.superseded_by IS NULL AND l.id = memories.lane
  )
), 0) WHERE live = 1`;

/** What a prompt is told of an owner at once: how much a memory belongs to the profile, and what is under way in a lane. */
export const SCHEMA_14 = `
ALTER TABLE memories ADD COLUMN profile_rank INTEGER NOT NULL DEFAULT 0;
${RANK_EARLIER};
CREATE INDEX memories_of_profile ON memories (lane, profile_rank DESC, created_at, id) WHERE live = 1 AND profile_rank > 0;
CREATE INDEX batches_consolidating ON batches (lane, position) WHERE state = 'consolidating';
`;
