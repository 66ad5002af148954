import { InvalidInput, NotFound } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { hasUnstorableCharacter } from '../unstorable-json.ts';

export const WORKFLOW_STATUSES = ['pending', 'running', 'paused', 'completed', 'failed'] as const;
export type WorkflowStatus = (typeof WORKFLOW_STATUSES)[number];

/** State of one run of an agent or another workflow, which a client stores so that it can continue after a restart. */
export interface WorkflowRun extends Stamps {
  readonly id: string;
  /** Session of the model calls of the run: clients send it as the header `x-litellm-session-id`. */
  readonly sessionId: string;
  /** Name of the kind of workflow. */
  readonly type: string;
  readonly status: WorkflowStatus;
  /**
   * Key that created the run, or that opened the session which created it. Only this key, its sessions and
   * administrators can use the run.
   */
  readonly keyHash: string;
  readonly input: JsonObject | null;
  readonly output: JsonObject | null;
  readonly metadata: JsonObject | null;
  /** Characters of `input`, `output`, `metadata`, and of all events and messages. */
  readonly size: number;
  readonly eventCount: number;
  readonly messageCount: number;
}

/** A step of a run. Events are never changed. */
export interface WorkflowEvent {
  readonly id: string;
  readonly runId: string;
  /** Position in the run, from 0. */
  readonly sequence: number;
  readonly type: string;
  readonly stepName: string;
  readonly data: JsonObject | null;
  readonly at: Date;
}

/** A message of the conversation of a run. Messages are never changed. */
export interface WorkflowMessage {
  readonly id: string;
  readonly runId: string;
  /** Position in the run, from 0. */
  readonly sequence: number;
  readonly role: string;
  readonly content: string;
  readonly sessionId: string | null;
  readonly at: Date;
}

/** Filter of runs. All conditions that are not null must match. */
export interface WorkflowFilter {
  readonly keyHash: string | null;
  readonly type: string | null;
  readonly statuses: readonly WorkflowStatus[] | null;
}

export const ALL_RUNS: WorkflowFilter = { keyHash: null, type: null, statuses: null };

/** Entries of a run after a position, in their order. */
export interface EntryPage {
  readonly runId: string;
  /** Position after which the page begins; -1 for the first page. */
  readonly after: number;
  readonly limit: number;
}

/** What an entry changes in its run. */
export interface EntryChange {
  /** Status of the run after the entry; null when it stays the same. */
  readonly status: WorkflowStatus | null;
  /** Characters of the entry. */
  readonly size: number;
  readonly by: string;
}

/** Store of runs with their events and messages. */
export interface WorkflowStore extends Omit<RowStore<WorkflowRun, WorkflowFilter>, 'remove'> {
  /**
   * Appends an event, and changes the status of its run in the same transaction. Null when the run does not exist, or
   * is full.
   */
  appendEvent(event: Omit<WorkflowEvent, 'sequence'>, change: EntryChange): Promise<WorkflowEvent | null>;
  /** Appends a message. Null when the run does not exist, or is full. */
  appendMessage(message: Omit<WorkflowMessage, 'sequence'>, change: EntryChange): Promise<WorkflowMessage | null>;
  events(page: EntryPage): Promise<readonly WorkflowEvent[]>;
  messages(page: EntryPage): Promise<readonly WorkflowMessage[]>;
  /** The last event of a run; null for a run without events. */
  lastEvent(runId: string): Promise<WorkflowEvent | null>;
  /** Characters of all runs of a key. */
  sizeOf(keyHash: string): Promise<number>;
  /** Removes a run with its events and messages in one transaction. False when it does not exist. */
  removeRun(id: string): Promise<boolean>;
}

/** Maximum number of runs of one key. */
export const MAX_RUNS = 1_000;
/** Maximum number of events, and of messages, of one run. */
export const MAX_ENTRIES = 10_000;
/** Maximum number of characters of one run. */
export const MAX_RUN_SIZE = 16 * 1024 * 1024;
/** Maximum number of characters of all runs of one key. */
const MAX_KEY_SIZE = 256 * 1024 * 1024;
const MAX_NAME = 256;
const MAX_JSON = 64 * 1024;
const MAX_CONTENT = 512 * 1024;

export const unknownRun = (id: string): NotFound =>
  new NotFound('workflow run', id, `Run '${id.slice(0, MAX_NAME)}' not found`);

const NUL_OR_UNPAIRED_SURROGATE = /[\0\p{Cs}]/u;
const CONTROL = /\p{Cc}/u;

/** Returns a name. Throws InvalidInput for a blank or too long one, and for control characters. */
function checkedName(member: string, name: string): string {
  if (name.trim() === '' || name.length > MAX_NAME)
    throw new InvalidInput(`${member} must have 1 to ${MAX_NAME} characters`);
  if (CONTROL.test(name) || NUL_OR_UNPAIRED_SURROGATE.test(name))
    throw new InvalidInput(`${member} must have no control character and no unpaired surrogate`);
  return name;
}

/** Characters of an object as JSON; 0 for null. Throws InvalidInput for an object that cannot be stored. */
function sizeOfJson(member: string, value: JsonObject | null): number {
  if (value === null) return 0;
  const json = JSON.stringify(value);
  if (json.length > MAX_JSON) throw new InvalidInput(`${member} must have at most ${MAX_JSON} characters as JSON`);
  if (hasUnstorableCharacter(json))
    throw new InvalidInput(`${member} must have no NUL character and no unpaired surrogate`);
  return json.length;
}

/** Content of a run. */
export interface RunDraft {
  readonly type: string;
  readonly input: JsonObject | null;
  readonly metadata: JsonObject | null;
}

/** A new run. Throws InvalidInput. */
export const newRun = (
  { type, input, metadata }: RunDraft,
  about: Authored & { readonly id: string; readonly sessionId: string; readonly keyHash: string },
): WorkflowRun => ({
  id: about.id,
  sessionId: about.sessionId,
  type: checkedName('workflow_type', type),
  status: 'pending',
  keyHash: about.keyHash,
  input,
  output: null,
  metadata,
  size: sizeOfJson('input', input) + sizeOfJson('metadata', metadata),
  eventCount: 0,
  messageCount: 0,
  ...newStamps(about),
});

/** Changes of a run. Absent members keep their values. */
export interface RunPatch {
  readonly status?: WorkflowStatus;
  readonly output?: JsonObject;
  readonly metadata?: JsonObject;
}

/** A run with a patch applied. Throws InvalidInput for an empty patch, and for a run that would be too large. */
export function patchedRun(run: WorkflowRun, patch: RunPatch, { now, by }: Authored): WorkflowRun {
  if (Object.keys(patch).length === 0) throw new InvalidInput('No fields to update');
  const changed = { ...run, ...patch, updatedAt: now, updatedBy: by };
  const grown =
    sizeOfJson('output', changed.output) +
    sizeOfJson('metadata', changed.metadata) -
    sizeOfJson('output', run.output) -
    sizeOfJson('metadata', run.metadata);
  const size = run.size + grown;
  if (size > MAX_RUN_SIZE) throw runIsFull();
  return { ...changed, size };
}

export const runIsFull = (): InvalidInput =>
  new InvalidInput(
    `A run has at most ${MAX_ENTRIES} events, ${MAX_ENTRIES} messages and ${MAX_RUN_SIZE} characters in total.`,
  );

/** Throws InvalidInput when a key would store too many characters. */
export function assertRoom(storedSize: number, added: number): void {
  if (storedSize + added > MAX_KEY_SIZE)
    throw new InvalidInput(`The runs of a key have at most ${MAX_KEY_SIZE} characters in total. Delete some runs.`);
}

/** Status of a run after an event. */
const STATUS_AFTER: Readonly<Record<string, WorkflowStatus>> = {
  'step.started': 'running',
  'step.failed': 'failed',
  'hook.waiting': 'paused',
  'hook.received': 'running',
};

export interface EventDraft {
  readonly type: string;
  readonly stepName: string;
  readonly data: JsonObject | null;
}

/** Size of an event and the status that it gives its run. Throws InvalidInput for an event that cannot be stored. */
export function checkedEvent({ type, stepName, data }: EventDraft): Pick<EntryChange, 'status' | 'size'> {
  checkedName('event_type', type);
  checkedName('step_name', stepName);
  const status = Object.hasOwn(STATUS_AFTER, type) ? (STATUS_AFTER[type] ?? null) : null;
  return { status, size: type.length + stepName.length + sizeOfJson('data', data) };
}

export interface MessageDraft {
  readonly role: string;
  readonly content: string;
  readonly sessionId: string | null;
}

/** Size of a message. Throws InvalidInput for a message that cannot be stored. */
export function checkedMessage({ role, content, sessionId }: MessageDraft): Pick<EntryChange, 'status' | 'size'> {
  checkedName('role', role);
  if (sessionId !== null) checkedName('session_id', sessionId);
  if (content.length > MAX_CONTENT) throw new InvalidInput(`content must have at most ${MAX_CONTENT} characters`);
  if (NUL_OR_UNPAIRED_SURROGATE.test(content))
    throw new InvalidInput('content must have no NUL character and no unpaired surrogate');
  return { status: null, size: role.length + content.length };
}
