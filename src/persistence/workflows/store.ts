import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { JsonObject } from '../../domain/json-object.ts';
import { storable } from '../../domain/storable.ts';
import {
  type EntryChange,
  MAX_ENTRIES,
  MAX_RUN_SIZE,
  type WorkflowEvent,
  type WorkflowFilter,
  type WorkflowMessage,
  type WorkflowRun,
  type WorkflowStore,
} from '../../domain/workflows/workflow-run.ts';
import type { Database } from '../database/database.ts';
import { createRowStore, matching } from '../database/row-store.ts';
import type { Tables } from '../database/tables.ts';
import { WorkflowEventEntity, WorkflowMessageEntity, WorkflowRunEntity } from './entities.ts';

interface StoredEvent extends Omit<WorkflowEvent, 'data' | 'at'> {
  readonly data: string | null | undefined;
  readonly at: number;
}

const eventOf = ({ id, runId, sequence, type, stepName, data, at }: StoredEvent): WorkflowEvent => ({
  id,
  runId,
  sequence,
  type,
  stepName,
  data: data === null || data === undefined ? null : (JSON.parse(data) as JsonObject),
  at: new Date(at),
});

interface StoredMessage extends Omit<WorkflowMessage, 'sessionId' | 'at'> {
  readonly sessionId?: string | null | undefined;
  readonly at: number;
}

const messageOf = ({ id, runId, sequence, role, content, sessionId = null, at }: StoredMessage): WorkflowMessage => ({
  id,
  runId,
  sequence,
  role,
  content,
  sessionId,
  at: new Date(at),
});

/** Runs as rows, and their events and messages in tables that only grow. */
export function createWorkflowStore(database: Database): WorkflowStore {
  const { flavour, find, readRows, transact } = database;
  const { remove: _remove, ...rows } = createRowStore<WorkflowRun, WorkflowFilter, 'created_at'>(database, {
    entity: WorkflowRunEntity,
    noun: 'workflow run',
    where: ({ keyHash, type, statuses }) => matching({ keyHash, type, status: statuses }),
    conflictText: ({ id }) => `Workflow run '${id}' already exists`,
  });
  const timeOf = (time: Date): RawBuilder<unknown> =>
    flavour === 'postgresql' ? sql`cast(${time.toISOString()} as timestamptz)` : sql`${time.getTime()}`;

  /**
   * Takes the next position of a run for an entry. Locks the row of the run until the end of the transaction. Null when
   * the run does not exist, or is full.
   */
  async function nextSequence(
    db: Kysely<Tables>,
    counter: 'event_count' | 'message_count',
    {
      runId,
      at,
      change: { status, size, by },
    }: { readonly runId: string; readonly at: Date; readonly change: EntryChange },
  ): Promise<number | null> {
    const column = sql.ref(counter);
    const { rows: updated } = await sql<{ taken: number | string }>`
      update workflow_run
      set ${column} = ${column} + 1, size = size + ${size}, revision = revision + 1, updated_at = ${timeOf(at)},
        updated_by = ${storable(by)} ${status === null ? sql`` : sql`, status = ${status}`}
      where id = ${storable(runId)} and ${column} < ${MAX_ENTRIES} and size + ${size} <= ${MAX_RUN_SIZE}
      returning ${column} - 1 as taken
    `.execute(db);
    const [row] = updated;
    return row === undefined ? null : Number(row.taken);
  }

  return {
    ...rows,
    appendEvent: (event, change) =>
      transact(async (db) => {
        const sequence = await nextSequence(db, 'event_count', { runId: event.runId, at: event.at, change });
        if (sequence === null) return null;
        const { id, runId, type, stepName, data, at } = event;
        const values = {
          id,
          run_id: runId,
          sequence,
          type: storable(type),
          step_name: storable(stepName),
          data: data === null ? null : JSON.stringify(data),
          at: at.getTime(),
        };
        await db.insertInto('workflow_event').values(values).execute();
        return { ...event, sequence };
      }),
    appendMessage: (message, change) =>
      transact(async (db) => {
        const sequence = await nextSequence(db, 'message_count', { runId: message.runId, at: message.at, change });
        if (sequence === null) return null;
        const { id, runId, role, content, sessionId, at } = message;
        const values = {
          id,
          run_id: runId,
          sequence,
          role: storable(role),
          content: storable(content),
          session_id: sessionId === null ? null : storable(sessionId),
          at: at.getTime(),
        };
        await db.insertInto('workflow_message').values(values).execute();
        return { ...message, sequence };
      }),
    events: ({ runId, after, limit }) =>
      find(async (em) => {
        const where = { runId: storable(runId), sequence: { $gt: after } };
        return (await em.find(WorkflowEventEntity, where, { orderBy: { sequence: 'asc' }, limit })).map(eventOf);
      }),
    messages: ({ runId, after, limit }) =>
      find(async (em) => {
        const where = { runId: storable(runId), sequence: { $gt: after } };
        return (await em.find(WorkflowMessageEntity, where, { orderBy: { sequence: 'asc' }, limit })).map(messageOf);
      }),
    lastEvent: (runId) =>
      find(async (em) => {
        const options = { orderBy: { sequence: 'desc' }, limit: 1 } as const;
        const [last] = await em.find(WorkflowEventEntity, { runId: storable(runId) }, options);
        return last === undefined ? null : eventOf(last);
      }),
    async sizeOf(keyHash) {
      const { rows: found } = await readRows((db) =>
        sql<{ total: number | string | null }>`
          select sum(size) as total from workflow_run where key_hash = ${storable(keyHash)}
        `.execute(db),
      );
      return Number(found[0]?.total ?? 0);
    },
    removeRun: (id) =>
      transact(async (db) => {
        const runId = storable(id);
        // The run first: an entry that is appended at the same time has committed before, or finds no run.
        const removed = await db.deleteFrom('workflow_run').where('id', '=', runId).returning('id').execute();
        await db.deleteFrom('workflow_event').where('run_id', '=', runId).execute();
        await db.deleteFrom('workflow_message').where('run_id', '=', runId).execute();
        return removed.length > 0;
      }),
  };
}
