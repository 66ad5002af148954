import { defineEntity, p } from '@mikro-orm/core';
import type { GuardrailMode } from '../../domain/guardrails/definition.ts';
import type { GuardrailRunResult } from '../../domain/guardrails/guardrail-use.ts';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A guardrail changes over time: a managed entity. */
export const GuardrailEntity = defineEntity({
  name: 'GuardrailEntity',
  tableName: 'guardrail',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    kind: p.text(),
    modes: p.json().columnType('json').$type<readonly GuardrailMode[]>(),
    defaultOn: p.boolean(),
    /** The parameters of the guardrail as JSON, encrypted, in Base64. */
    sealed: p.text(),
    info: objectColumn().nullable(),
    teamId: p.text().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

/** Numbers of runs by day and guardrail. Written by SQL, read as entities. */
export const GuardrailDayEntity = defineEntity({
  name: 'GuardrailDayEntity',
  tableName: 'guardrail_day',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that the rows of a period are adjacent. */
    day: p.text().primary(),
    guardrailId: p.text().primary(),
    name: p.text(),
    kind: p.text(),
    passed: p.bigint('number'),
    flagged: p.bigint('number'),
    intervened: p.bigint('number'),
    failed: p.bigint('number'),
    /** Sum over the runs of the day. */
    latencyMs: p.double().$type<number>(),
  },
});

/** A run of a guardrail with another result than passed. Written by SQL, read as entities. */
export const GuardrailRunEntity = defineEntity({
  name: 'GuardrailRunEntity',
  tableName: 'guardrail_run',
  properties: {
    id: p.text().primary(),
    guardrailId: p.text(),
    name: p.text(),
    kind: p.text(),
    result: p.text().$type<GuardrailRunResult>(),
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
