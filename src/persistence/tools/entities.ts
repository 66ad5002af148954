import { defineEntity, p } from '@mikro-orm/core';
import type { ToolInputPolicy, ToolOutputPolicy } from '../../domain/tools/tool.ts';
import { stampColumns } from '../column-types/shared-columns.ts';

/** A tool changes over time: a managed entity. Calls are added by SQL. */
export const ToolEntity = defineEntity({
  name: 'ToolEntity',
  tableName: 'tool',
  properties: {
    id: p.text().primary(),
    name: p.text().unique(),
    origin: p.text(),
    inputPolicy: p.text().$type<ToolInputPolicy>(),
    outputPolicy: p.text().$type<ToolOutputPolicy>(),
    callCount: p.bigint('number'),
    keyHash: p.text().nullable(),
    keyAlias: p.text().nullable(),
    teamId: p.text().nullable(),
    userAgent: p.text().nullable(),
    lastUsedAt: p.datetime().nullable(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }],
});

/** A tool that is blocked for a team or a key: a managed entity. */
export const ToolOverrideEntity = defineEntity({
  name: 'ToolOverrideEntity',
  tableName: 'tool_override',
  properties: {
    id: p.text().primary(),
    toolName: p.text(),
    scope: p.text(),
    teamId: p.text().nullable(),
    keyHash: p.text().nullable(),
    alias: p.text().nullable(),
    ...stampColumns(),
  },
  uniques: [{ properties: ['toolName', 'scope'] }],
});

/** Calls of a tool by day. Written by SQL, read as entities. */
export const ToolDayEntity = defineEntity({
  name: 'ToolDayEntity',
  tableName: 'tool_day',
  properties: {
    /** UTC, `YYYY-MM-DD`: first in the key, so that the rows of a period are adjacent. */
    day: p.text().primary(),
    name: p.text().primary(),
    calls: p.bigint('number'),
    /** Picodollars. */
    cost: p.bigint('string'),
    tokens: p.bigint('number'),
  },
});

/** A request that called a tool. Written by SQL, read as entities. */
export const ToolCallEntity = defineEntity({
  name: 'ToolCallEntity',
  tableName: 'tool_call',
  properties: {
    id: p.text().primary(),
    name: p.text(),
    requestId: p.text(),
    /** Unix ms. */
    at: p.bigint('number'),
    model: p.text(),
    /** Picodollars. */
    cost: p.bigint('string').nullable(),
    tokens: p.bigint('number'),
  },
  indexes: [{ properties: ['name', 'at', 'id'] }, { properties: ['at'] }],
});
