import { defineEntity, p } from '@mikro-orm/core';
import type { RunResult } from '../../../domain/guardrails/guardrail-use.ts';

/** A run of a guardrail that did not pass. Rows only. */
export const GuardrailRunEntity = defineEntity({
  name: 'GuardrailRunEntity',
  tableName: 'guardrail_run',
  properties: {
    id: p.text().primary(),
    guardrailId: p.text(),
    name: p.text(),
    kind: p.text(),
    result: p.text().$type<RunResult>(),
    mode: p.text(),
    /** Unix ms. */
    at: p.bigint('number'),
    latencyMs: p.double().$type<number>(),
    model: p.text(),
    callId: p.text(),
    traceId: p.text(),
    keyHash: p.text(),
    teamId: p.text().nullable(),
  },
  indexes: [{ properties: ['at', 'id'] }],
});
