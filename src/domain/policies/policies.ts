import type { Authored } from '../row-store.ts';
import type { AttachmentRules, PolicyAttachment } from './attachment.ts';
import type { Policy, PolicyDraft, PolicyPatch, VersionStatus } from './policy.ts';
import type { PolicyBook } from './policy-book.ts';

/** Policies and attachments of the configuration file. */
export interface FilePolicies {
  readonly policies: readonly Policy[];
  readonly attachments: readonly PolicyAttachment[];
}

/** Policies and attachments of the configuration file and of the database. */
export interface Policies {
  /** All versions. A policy of the file hides the stored policy with the same name. */
  list(): readonly Policy[];
  attachments(): readonly PolicyAttachment[];
  /** The policies in force. Returns the same object until a policy or an attachment changes. */
  book(): PolicyBook;
  /**
   * The policies in force as they would be with `policy` in force. Stores nothing. Throws InvalidInput for invalid
   * rules of `policy`, and when it or a policy that inherits from it has an unknown parent or a cycle.
   */
  bookWith(policy: Policy): PolicyBook;
  /** Creates a policy whose first version is in force. Throws Conflict for an existing name, and InvalidInput. */
  add(draft: PolicyDraft & { readonly id: string }, by: Authored): Promise<Policy>;
  /** Copies a version to a new draft. Throws Conflict when another request creates a version at the same time. */
  addVersion(source: Policy, id: string, by: Authored): Promise<Policy>;
  /** Changes a draft. Null for an unknown id. Throws Conflict for a version that is no draft, and InvalidInput. */
  change(id: string, patch: PolicyPatch, by: Authored): Promise<Policy | null>;
  /**
   * Changes the status of a version. With `production`, the version replaces the one in force. Null for an unknown id.
   * Throws InvalidInput for a status that cannot follow the current one.
   */
  setStatus(id: string, status: VersionStatus, by: Authored): Promise<Policy | null>;
  /** Removes versions. Returns those that existed. */
  remove(ids: readonly string[]): Promise<readonly Policy[]>;
  attach(rules: AttachmentRules & { readonly id: string }, by: Authored): Promise<PolicyAttachment>;
  /** Removes an attachment. Null for an unknown id. */
  detach(id: string): Promise<PolicyAttachment | null>;
  /** Replaces the policies of the configuration file. */
  configure(file: FilePolicies): void;
  /** Reads the stored rows again, because other processes may have changed them. */
  refresh(): Promise<void>;
}
