import { jsonObjectOf } from '../json-object.ts';
import type { Owner, Visibility } from '../caller.ts';
import { InvalidInput } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** State of an agent at the upstream. Unknown members are ignored. */
export interface AgentState {
  readonly name: string | null;
  /** An open list: `CREATING`, `RUNNING`, `FINISHED`, `ERROR`, `EXPIRED` and others. */
  readonly status: string;
  readonly repository: string | null;
  readonly ref: string | null;
  readonly branchName: string | null;
  /** Page of the agent at the vendor. */
  readonly url: string | null;
  readonly autoCreatePr: boolean | null;
  /** When the upstream created it, ISO 8601. */
  readonly launchedAt: string | null;
}

/** An agent that was launched through the gateway, with its last known state. */
export interface CodingAgent extends Stamps, Owner {
  /** The upstream's id of the agent. */
  readonly id: string;
  readonly state: AgentState;
}

/** Status of an agent that was deleted at its provider. */
export const DELETED = 'DELETED';

/** Statuses after which an agent does not change by itself. */
const FINAL: ReadonlySet<string> = new Set(['FINISHED', 'ERROR', 'EXPIRED', 'STOPPED', 'CANCELLED', DELETED]);

/** Whether an agent has ended. */
export const isFinal = ({ status }: AgentState): boolean => FINAL.has(status.toUpperCase());

const MEMBERS = ['name', 'status', 'repository', 'ref', 'branchName', 'url', 'autoCreatePr', 'launchedAt'] as const;

export const haveSameState = (one: AgentState, other: AgentState): boolean =>
  MEMBERS.every((member) => one[member] === other[member]);

/** A change of an agent, for subscribers. */
export interface AgentChange {
  readonly id: string;
  /** Null when it was deleted. */
  readonly agent: CodingAgent | null;
}

/** Filter of agents. All conditions that are neither null nor absent must match. */
export interface AgentFilter {
  readonly visible: Visibility;
  readonly keyHash?: string | null;
  readonly teamId?: string | null;
}

export type CodingAgentStore = RowStore<CodingAgent, AgentFilter>;

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Longest id of an agent; longer ones are not stored. */
const ID_LIMIT = 200;
/** Longest status, and longest other text of a state. */
const STATUS_LIMIT = 64;
const TEXT_LIMIT = 2_000;

const isStorable = (text: string, limit: number): boolean => text.length <= limit && !/\p{Cc}/u.test(text);

/** A text of a state; null when it is longer than `limit` or has control characters. */
function storableText(value: unknown, limit = TEXT_LIMIT): string | null {
  const text = textOf(value);
  return text !== null && isStorable(text, limit) ? text : null;
}

/** The agent in an answer of the upstream; null without an id that can be stored. */
export function agentIn(answer: unknown): { readonly id: string; readonly state: AgentState } | null {
  const fields = jsonObjectOf(answer);
  const id = textOf(fields['id']);
  if (id === null || id === '' || !isStorable(id, ID_LIMIT)) return null;
  const [source, target] = [jsonObjectOf(fields['source']), jsonObjectOf(fields['target'])];
  return {
    id,
    state: {
      name: storableText(fields['name']),
      status: storableText(fields['status'], STATUS_LIMIT) ?? 'UNKNOWN',
      repository: storableText(source['repository']),
      ref: storableText(source['ref']),
      branchName: storableText(target['branchName']),
      url: storableText(target['url']),
      autoCreatePr: typeof target['autoCreatePr'] === 'boolean' ? target['autoCreatePr'] : null,
      launchedAt: storableText(fields['createdAt']),
    },
  };
}

/** A webhook message of the provider about the state of an agent. */
export interface AgentReport {
  readonly id: string;
  readonly state: AgentState;
  /** When the provider sent it; null where it does not say. */
  readonly sentAt: Date | null;
}

/** Maximum difference between the time of a webhook message and now, in ms. */
const MAX_REPORT_AGE_MS = 300_000;

/**
 * Reads a webhook message. Throws InvalidInput for a message without an id or a status, and for a text that cannot be
 * stored. Also throws it for a `timestamp` that is malformed, or differs from now by more than `MAX_REPORT_AGE_MS`.
 */
export function agentReportIn(message: unknown, now: Date): AgentReport {
  const agent = agentIn(message);
  if (agent === null) throw new InvalidInput('The message is not a JSON object with the id of an agent.');
  const fields = jsonObjectOf(message);
  const [source, target] = [jsonObjectOf(fields['source']), jsonObjectOf(fields['target'])];
  const hasStatus = storableText(fields['status'], STATUS_LIMIT) !== null;
  // `agentIn` replaces a text that cannot be stored by null. Here, such a text refuses the message.
  const texts = [fields['name'], source['repository'], source['ref'], target['branchName'], target['url']];
  const areStorable = texts.every((text) => textOf(text) === storableText(text));
  if (!hasStatus || !areStorable)
    throw new InvalidInput('A text of the message is too long or has control characters, or it has no status.');
  const { timestamp } = fields;
  if (timestamp === undefined) return { ...agent, sentAt: null };
  const sentAt = new Date(typeof timestamp === 'string' ? timestamp : Number.NaN);
  const differenceMs = Math.abs(now.getTime() - sentAt.getTime());
  const isMalformed = Number.isNaN(differenceMs);
  if (isMalformed || differenceMs > MAX_REPORT_AGE_MS)
    throw new InvalidInput('The `timestamp` of the message is not within five minutes of now.');
  return { ...agent, sentAt };
}

/**
 * Whether a webhook message may replace the stored state. `DELETED` is never replaced by another status. Any other
 * final state is replaced only by a final state, or by a message that was sent after the state was stored.
 */
export function mayReplaceState(
  { state, updatedAt }: Pick<CodingAgent, 'state' | 'updatedAt'>,
  report: AgentReport,
): boolean {
  if (state.status === DELETED) return report.state.status === DELETED;
  if (!isFinal(state) || isFinal(report.state)) return true;
  return report.sentAt !== null && report.sentAt > updatedAt;
}

/** One message of an agent's conversation. (A webhook message about an agent is an `AgentReport`.) */
export interface AgentMessage {
  readonly id: string;
  /** `user_message` or `assistant_message`. */
  readonly type: string;
  readonly text: string;
}

/** The messages in an answer of the upstream. */
export function messagesIn(answer: unknown): readonly AgentMessage[] {
  const { messages } = jsonObjectOf(answer);
  if (!Array.isArray(messages)) return [];
  return messages.map((message: unknown) => {
    const { id, type, text } = jsonObjectOf(message);
    return { id: textOf(id) ?? '', type: textOf(type) ?? '', text: textOf(text) ?? '' };
  });
}

/** The row of a launched agent, with its owner. */
export const newAgent = (
  { id, state }: Pick<CodingAgent, 'id' | 'state'>,
  owner: Owner,
  by: Authored,
): CodingAgent => ({ id, state, teamId: owner.teamId, keyHash: owner.keyHash, ...newStamps(by) });
