import type { JsonObject } from '../json-object.ts';
import { snakeCase } from '../key-case.ts';
import { type Usd, usdNumber } from '../money.ts';
import type { RowPage } from '../row-store.ts';
import { redacted } from '../settings/redaction.ts';

/** Kinds of rows whose changes are recorded. */
export const AUDIT_NOUNS = [
  'key',
  'user',
  'invitation',
  'team',
  'team_member',
  'organization',
  'organization_member',
  'project',
  'customer',
  'budget',
  'tag',
  'access_group',
  'token_mapping',
  'deployment',
  'model_fallback',
  'credential',
  'settings',
  'pass_through_endpoint',
  'guardrail',
  'policy',
  'policy_attachment',
  'prompt',
  'a2a_agent',
  'vector_store',
  'vector_store_index',
  'search_tool',
  'mcp_server',
  'mcp_toolset',
  'command_line_session',
  'plugin',
  'tool',
  'tool_override',
] as const;
export type AuditNoun = (typeof AUDIT_NOUNS)[number];

export const AUDIT_ACTIONS = ['created', 'updated', 'deleted', 'blocked', 'unblocked', 'rotated'] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/** Members of a row as JSON, without secrets. */
export type AuditedRow = JsonObject;

/** Who changes rows, and when. */
export interface ChangeAuthor {
  /** Id of the user that the caller acts for, else `actor`. */
  readonly by: string;
  /** Id of the user of the credential, else the hash of its key; the default user for the admin key. */
  readonly actor: string;
  /** Hash of the virtual key; null without one, as for the admin key and for duties. */
  readonly keyHash: string | null;
  readonly at: Date;
}

/** One change of one row. Entries are never changed. */
export interface AuditEntry {
  readonly id: string;
  readonly createdAt: Date;
  readonly changedBy: string;
  /** The `actor` of the author; null for entries that an earlier version wrote. */
  readonly actor: string | null;
  /** The `keyHash` of the author. */
  readonly changedByKey: string | null;
  readonly action: AuditAction;
  readonly noun: AuditNoun;
  readonly objectId: string;
  /** Team of the row; for a team, its own id. Null for none. */
  readonly teamId: string | null;
  /** Hash of the key that was changed; null for other rows. */
  readonly keyHash: string | null;
  /** The row before the change; null for a new row. */
  readonly before: AuditedRow | null;
  /** The row after the change; null for a deleted row. */
  readonly after: AuditedRow | null;
}

/** Filter of entries. Null conditions and a false `withoutKey` always match. */
export interface AuditFilter {
  readonly changedBy: string | null;
  readonly changedByKey: string | null;
  /** True selects the entries without a virtual key, such as those of the admin key. */
  readonly withoutKey: boolean;
  readonly action: AuditAction | null;
  readonly noun: AuditNoun | null;
  readonly objectId: string | null;
  readonly teamId: string | null;
  readonly keyHash: string | null;
  /** Inclusive. */
  readonly from: Date | null;
  /** Exclusive. */
  readonly to: Date | null;
}

export const ALL_CHANGES: AuditFilter = {
  changedBy: null,
  changedByKey: null,
  withoutKey: false,
  action: null,
  noun: null,
  objectId: null,
  teamId: null,
  keyHash: null,
  from: null,
  to: null,
};

const AUDIT_SORTS = ['created_at', 'changed_by', 'action', 'noun', 'object_id'] as const;
export type AuditSort = (typeof AUDIT_SORTS)[number];

/** Recorded changes. Each entry is written in the transaction of its change. */
export interface AuditLog {
  remove(ids: readonly string[]): Promise<readonly AuditEntry[]>;
  find(id: string): Promise<AuditEntry | null>;
  list(page: RowPage<AuditFilter, AuditSort>): Promise<readonly AuditEntry[]>;
  count(filter: AuditFilter): Promise<number>;
}

/** Author of the changes that stores make. */
export interface Authorship {
  /**
   * Runs `work`. The row changes that `work` starts are recorded with this author. All other changes of rows have no
   * author and are not recorded.
   */
  by<Result>(author: ChangeAuthor, work: () => Result): Result;
}

/**
 * Members that are not recorded: secrets, members that are derived from others, and members that are not stored with
 * the row.
 */
const OMITTED_MEMBERS = new Set([
  'secretHash',
  'previousSecret',
  'sealed',
  'emailKey',
  'owners',
  'previousSecretHash',
  'familyHash',
  'codeHash',
  'clientHash',
  'openedBy',
]);

/** A value as JSON: amounts in USD, times as ISO text. */
function jsonOf(value: unknown): unknown {
  if (typeof value === 'bigint') return usdNumber(value as Usd);
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value !== 'object' || value === null) return value ?? null;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, jsonOf(inner)]));
}

/** A row as the log shows it. On every level, the name of a member decides whether its value is a secret. */
function auditedRow(row: object): AuditedRow {
  const members = Object.entries(row).filter(([name]) => !OMITTED_MEMBERS.has(name));
  return Object.fromEntries(
    members.map(([member, value]) => {
      const name = snakeCase(member);
      return [name, redacted(name, jsonOf(value), 'admin')];
    }),
  );
}

/** Members of a row that decide the action of its change. */
interface ChangedMembers {
  readonly blocked?: boolean;
  readonly secretHash?: string;
  readonly deletedAt?: Date | null;
}

/** Action of a change. */
function auditAction(before: ChangedMembers | null, after: ChangedMembers | null): AuditAction {
  if (before === null) return 'created';
  if (after === null || (after.deletedAt ?? null) !== null) return 'deleted';
  if (before.secretHash !== after.secretHash) return 'rotated';
  if (before.blocked === after.blocked) return 'updated';
  return after.blocked === true ? 'blocked' : 'unblocked';
}

/** Members of a row that identify it in an entry. */
type IdentifiedRow = ChangedMembers & {
  readonly id?: string;
  readonly hash?: string;
  readonly teamId?: string | null;
};

/** The entry of a change. */
export function auditEntry(
  { noun, before, after }: { readonly noun: AuditNoun; readonly before: object | null; readonly after: object | null },
  { id, author }: { readonly id: string; readonly author: ChangeAuthor },
): AuditEntry {
  const row = (after ?? before ?? {}) as IdentifiedRow;
  const action = auditAction(before, after);
  const objectId = row.id ?? row.hash ?? '';
  return {
    id,
    createdAt: author.at,
    changedBy: author.by,
    actor: author.actor,
    changedByKey: author.keyHash,
    action,
    noun,
    objectId,
    teamId: noun === 'team' ? objectId : (row.teamId ?? null),
    keyHash: noun === 'key' ? objectId : null,
    before: before === null ? null : auditedRow(before),
    after: after === null || action === 'deleted' ? null : auditedRow(after),
  };
}
