import type { Owner, Visibility } from '../caller.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** What the upstream says of an agent. Unknown members are ignored. */
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
  /** Id of the upstream. */
  readonly id: string;
  readonly state: AgentState;
}

/** Statuses after which an agent does not change by itself. */
const FINAL: ReadonlySet<string> = new Set(['FINISHED', 'ERROR', 'EXPIRED', 'STOPPED', 'CANCELLED', 'DELETED']);

/** Whether an agent has ended. */
export const isFinal = ({ status }: AgentState): boolean => FINAL.has(status.toUpperCase());

const MEMBERS = ['name', 'status', 'repository', 'ref', 'branchName', 'url', 'autoCreatePr', 'launchedAt'] as const;

/** Whether two states are the same. */
export const haveSameState = (one: AgentState, other: AgentState): boolean =>
  MEMBERS.every((member) => one[member] === other[member]);

/** News about an agent. */
export interface AgentNews {
  readonly id: string;
  /** Null when it was deleted. */
  readonly agent: CodingAgent | null;
}

interface AgentFilter {
  readonly visible: Visibility;
}

export type CodingAgentStore = RowStore<CodingAgent, AgentFilter>;

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null);

/** Longest id of an agent; longer ones are not stored. */
const ID_LIMIT = 200;

/** The agent in an answer of the upstream; null where there is none. */
export function agentIn(answer: unknown): { readonly id: string; readonly state: AgentState } | null {
  const fields = fieldsOf(answer);
  const id = textOf(fields['id']);
  if (id === null || id === '' || id.length > ID_LIMIT) return null;
  const [source, target] = [fieldsOf(fields['source']), fieldsOf(fields['target'])];
  return {
    id,
    state: {
      name: textOf(fields['name']),
      status: textOf(fields['status']) ?? 'UNKNOWN',
      repository: textOf(source['repository']),
      ref: textOf(source['ref']),
      branchName: textOf(target['branchName']),
      url: textOf(target['url']),
      autoCreatePr: typeof target['autoCreatePr'] === 'boolean' ? target['autoCreatePr'] : null,
      launchedAt: textOf(fields['createdAt']),
    },
  };
}

/** One message of an agent's conversation. */
export interface AgentMessage {
  readonly id: string;
  /** `user_message` or `assistant_message`. */
  readonly type: string;
  readonly text: string;
}

/** The messages in an answer of the upstream. */
export function messagesIn(answer: unknown): readonly AgentMessage[] {
  const { messages } = fieldsOf(answer);
  if (!Array.isArray(messages)) return [];
  return messages.map((message: unknown) => {
    const { id, type, text } = fieldsOf(message);
    return { id: textOf(id) ?? '', type: textOf(type) ?? '', text: textOf(text) ?? '' };
  });
}

/** A launched agent of its owner. */
export const newAgent = (
  { id, state }: Pick<CodingAgent, 'id' | 'state'>,
  owner: Owner,
  by: Authored,
): CodingAgent => ({ id, state, teamId: owner.teamId, keyHash: owner.keyHash, ...newStamps(by) });
