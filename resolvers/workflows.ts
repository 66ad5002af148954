import { InvalidInput } from '../src/domain/errors.ts';
import type { RowPage } from '../src/domain/row-store.ts';
import {
  ALL_RUNS,
  assertRoom,
  checkedEvent,
  checkedMessage,
  type EntryPage,
  type EventDraft,
  MAX_RUNS,
  type MessageDraft,
  newRun,
  patchedRun,
  type RunDraft,
  runIsFull,
  type RunPatch,
  unknownRun,
  type WorkflowEvent,
  type WorkflowFilter,
  type WorkflowMessage,
  type WorkflowRun,
} from '../src/domain/workflows/workflow-run.ts';
import { limitedHashOf } from '../src/domain/users/session.ts';
import { isAnyAdmin } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { callerOf, operation } from './operation/operation.ts';
import { type FoundPage, pageOf } from './operation/row-pages.ts';
import type { Scope } from './operation/scope.ts';
import { workflowReader, workflowWriter } from './operation/workflow-access.ts';
import type { WorkflowPlatform } from './operation/workflow-platform.ts';

type WorkflowScope = Scope<WorkflowPlatform>;

interface NamedRun {
  readonly id: string;
}

/** Whether a caller may use a run. Read-only administrators are refused changes by the access rule. */
function isVisible(scope: WorkflowScope, run: WorkflowRun): boolean {
  const caller = callerOf(scope);
  return isAnyAdmin(caller) || run.keyHash === limitedHashOf(caller);
}

/** A run that the caller may use. Throws NotFound. */
async function runOf(scope: WorkflowScope, { id }: NamedRun): Promise<WorkflowRun> {
  const run = await scope.platform.stores.workflows.find(id);
  if (run === null || !isVisible(scope, run)) throw unknownRun(id);
  return run;
}

/** Stores a new run. Throws InvalidInput, also for a key with the maximum number of runs. */
export const createWorkflowRun = operation({
  name: 'createWorkflowRun',
  access: workflowWriter,
  async run(scope: WorkflowScope, draft: RunDraft): Promise<WorkflowRun> {
    const { stores, ids } = scope.platform;
    const keyHash = limitedHashOf(callerOf(scope));
    const run = newRun(draft, { ...authored(scope), id: ids.uuid(), sessionId: ids.uuid(), keyHash });
    if ((await stores.workflows.count({ ...ALL_RUNS, keyHash })) >= MAX_RUNS)
      throw new InvalidInput(`A key has at most ${MAX_RUNS} workflow runs. Delete some.`);
    assertRoom(await stores.workflows.sizeOf(keyHash), run.size);
    await stores.workflows.add(run);
    return run;
  },
});

/** A page of the runs of the key; for administrators, of all runs. */
export const listWorkflowRuns = operation({
  name: 'listWorkflowRuns',
  access: workflowReader,
  run(
    scope: WorkflowScope,
    {
      filter,
      page,
    }: {
      readonly filter: Omit<WorkflowFilter, 'keyHash'>;
      readonly page: Omit<RowPage<unknown, 'created_at'>, 'filter'>;
    },
  ): Promise<FoundPage<WorkflowRun>> {
    const caller = callerOf(scope);
    const keyHash = isAnyAdmin(caller) ? null : limitedHashOf(caller);
    return pageOf(scope.platform.stores.workflows, { ...filter, keyHash }, page);
  },
});

/** The runs with these ids that the caller may see, in no particular order. */
export const getWorkflowRuns = operation({
  name: 'getWorkflowRuns',
  access: workflowReader,
  async run(scope: WorkflowScope, { ids }: { readonly ids: readonly string[] }): Promise<readonly WorkflowRun[]> {
    return (await scope.platform.stores.workflows.findMany(ids)).filter((run) => isVisible(scope, run));
  },
});

export interface RunWithEvent {
  readonly run: WorkflowRun;
  /** Null for a run without events. */
  readonly lastEvent: WorkflowEvent | null;
}

/** One run with its last event. Throws NotFound. */
export const getWorkflowState = operation({
  name: 'getWorkflowState',
  access: workflowReader,
  async run(scope: WorkflowScope, named: NamedRun): Promise<RunWithEvent> {
    const run = await runOf(scope, named);
    return { run, lastEvent: await scope.platform.stores.workflows.lastEvent(run.id) };
  },
});

/** Changes the status, the output or the metadata of a run. Throws NotFound, and InvalidInput. */
export const updateWorkflowRun = operation({
  name: 'updateWorkflowRun',
  access: workflowWriter,
  async run(scope: WorkflowScope, { patch, ...named }: NamedRun & { readonly patch: RunPatch }): Promise<WorkflowRun> {
    const { workflows } = scope.platform.stores;
    const found = await runOf(scope, named);
    const by = authored(scope);
    const wanted = patchedRun(found, patch, by);
    if (wanted.size > found.size) assertRoom(await workflows.sizeOf(found.keyHash), wanted.size - found.size);
    const changed = await workflows.change(found.id, (row) => patchedRun(row, patch, by));
    if (changed === null) throw unknownRun(named.id);
    return changed.after;
  },
});

/** Removes a run with its events and messages. Throws NotFound. */
export const deleteWorkflowRun = operation({
  name: 'deleteWorkflowRun',
  access: workflowWriter,
  async run(scope: WorkflowScope, named: NamedRun): Promise<WorkflowRun> {
    const run = await runOf(scope, named);
    if (!(await scope.platform.stores.workflows.removeRun(run.id))) throw unknownRun(named.id);
    return run;
  },
});

/** Appends an event to a run, which may change its status. Throws NotFound, and InvalidInput. */
export const appendWorkflowEvent = operation({
  name: 'appendWorkflowEvent',
  access: workflowWriter,
  async run(scope: WorkflowScope, { id, ...draft }: NamedRun & EventDraft): Promise<WorkflowEvent> {
    const { stores, ids } = scope.platform;
    const entry = checkedEvent(draft);
    const run = await runOf(scope, { id });
    assertRoom(await stores.workflows.sizeOf(run.keyHash), entry.size);
    const { now: at, by } = authored(scope);
    const event = { ...draft, id: ids.uuid(), runId: run.id, at };
    const appended = await stores.workflows.appendEvent(event, { ...entry, by });
    if (appended === null) throw await refusalOf(scope, id);
    return appended;
  },
});

/** Appends a message to a run. Throws NotFound, and InvalidInput. */
export const appendWorkflowMessage = operation({
  name: 'appendWorkflowMessage',
  access: workflowWriter,
  async run(scope: WorkflowScope, { id, ...draft }: NamedRun & MessageDraft): Promise<WorkflowMessage> {
    const { stores, ids } = scope.platform;
    const entry = checkedMessage(draft);
    const run = await runOf(scope, { id });
    assertRoom(await stores.workflows.sizeOf(run.keyHash), entry.size);
    const { now: at, by } = authored(scope);
    const message = { ...draft, id: ids.uuid(), runId: run.id, at };
    const appended = await stores.workflows.appendMessage(message, { ...entry, by });
    if (appended === null) throw await refusalOf(scope, id);
    return appended;
  },
});

/** Why nothing was appended: the run was removed, or is full. */
const refusalOf = async ({ platform }: WorkflowScope, id: string): Promise<Error> =>
  (await platform.stores.workflows.find(id)) === null ? unknownRun(id) : runIsFull();

/** Events of a run in their order. Throws NotFound. */
export const listWorkflowEvents = operation({
  name: 'listWorkflowEvents',
  access: workflowReader,
  async run(scope: WorkflowScope, page: EntryPage): Promise<readonly WorkflowEvent[]> {
    await runOf(scope, { id: page.runId });
    return await scope.platform.stores.workflows.events(page);
  },
});

/** Messages of a run in their order. Throws NotFound. */
export const listWorkflowMessages = operation({
  name: 'listWorkflowMessages',
  access: workflowReader,
  async run(scope: WorkflowScope, page: EntryPage): Promise<readonly WorkflowMessage[]> {
    await runOf(scope, { id: page.runId });
    return await scope.platform.stores.workflows.messages(page);
  },
});
