import { defineEntity, p } from '@mikro-orm/core';
import type { WorkflowStatus } from '../../domain/workflows/workflow-run.ts';
import { objectColumn, stampColumns } from '../column-types/shared-columns.ts';

/** A run changes over time: a managed entity. Appended events and messages change it by SQL. */
export const WorkflowRunEntity = defineEntity({
  name: 'WorkflowRunEntity',
  tableName: 'workflow_run',
  properties: {
    id: p.text().primary(),
    sessionId: p.text(),
    type: p.text(),
    status: p.text().$type<WorkflowStatus>(),
    keyHash: p.text(),
    input: objectColumn().nullable(),
    output: objectColumn().nullable(),
    metadata: objectColumn().nullable(),
    size: p.bigint('number'),
    eventCount: p.integer(),
    messageCount: p.integer(),
    ...stampColumns(),
  },
  indexes: [{ properties: ['createdAt', 'id'] }, { properties: ['keyHash', 'createdAt', 'id'] }],
});

/** Events of runs. Append-only. */
export const WorkflowEventEntity = defineEntity({
  name: 'WorkflowEventEntity',
  tableName: 'workflow_event',
  properties: {
    runId: p.text().primary(),
    sequence: p.integer().primary(),
    id: p.text(),
    type: p.text(),
    stepName: p.text(),
    /** JSON object; null for none. */
    data: p.text().nullable(),
    /** Unix ms. */
    at: p.bigint('number'),
  },
});

/** Messages of runs. Append-only. */
export const WorkflowMessageEntity = defineEntity({
  name: 'WorkflowMessageEntity',
  tableName: 'workflow_message',
  properties: {
    runId: p.text().primary(),
    sequence: p.integer().primary(),
    id: p.text(),
    role: p.text(),
    content: p.text(),
    sessionId: p.text().nullable(),
    /** Unix ms. */
    at: p.bigint('number'),
  },
});
