import { defineEntity, p } from '@mikro-orm/core';

/**
 * Segment of the call log: calls of one commit that are not unfolded yet (`call-log/README.md`). Not a managed entity.
 */
export const CallSegmentEntity = defineEntity({
  name: 'CallSegmentEntity',
  tableName: 'call_segment',
  properties: {
    /** Number of the `export_body` row with the payloads. Segments are unfolded in ascending order of this number. */
    bodyNo: p.bigint('string').primary().autoincrement(false),
    calls: p.integer(),
    /** 1 for a segment that cannot be unfolded. An operator has to examine it. */
    setAside: p.integer(),
    /** JSON list, see `Segment.totals`. */
    totals: p.text(),
    /** JSON text, see `Segment.rows`. */
    rows: p.text(),
  },
});
