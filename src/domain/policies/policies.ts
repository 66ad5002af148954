import type { Authored } from '../row-store.ts';
import type { AttachmentRules, PolicyAttachment } from './attachment.ts';
import type { Policy, PolicyDraft, PolicyPatch, VersionStatus } from './policy.ts';
import type { PolicyBook } from './policy-book.ts';

/** Policies and attachments of the configuration file. */
export interface FilePolicies {
  readonly policies: readonly Policy[];
  readonly attachments: readonly PolicyAttachment[];
}

/** Policies of the configuration file and stored ones, with their attachments. */
export interface Policies {
  /** All versions. A stored policy whose name the file has, too, is left out. */
  list(): readonly Policy[];
  attachments(): readonly PolicyAttachment[];
  /** The policies in force; the same object until one changes. */
  book(): PolicyBook;
  /**
   * The policies in force, with one of them added or replaced. Throws InvalidInput for wrong rules, an unknown parent
   * and a cycle.
   */
  bookWith(policy: Policy): PolicyBook;
  /** Creates a policy, in force. Throws Conflict when the name is taken, and InvalidInput. */
  add(draft: PolicyDraft & { readonly id: string }, by: Authored): Promise<Policy>;
  /** Copies a version as a new draft. Throws Conflict when another request has just created one. */
  addVersion(source: Policy, id: string, by: Authored): Promise<Policy>;
  /** Changes a draft. Null when no version has the id. Throws Conflict for another status, and InvalidInput. */
  change(id: string, patch: PolicyPatch, by: Authored): Promise<Policy | null>;
  /**
   * Changes the status of a version. A version that comes in force replaces the one before. Null when no version has
   * the id. Throws InvalidInput for a status that cannot follow.
   */
  setStatus(id: string, status: VersionStatus, by: Authored): Promise<Policy | null>;
  /** Removes versions. Returns those that existed. */
  remove(ids: readonly string[]): Promise<readonly Policy[]>;
  attach(rules: AttachmentRules & { readonly id: string }, by: Authored): Promise<PolicyAttachment>;
  /** Removes an attachment. Null when none has the id. */
  detach(id: string): Promise<PolicyAttachment | null>;
  /** Replaces the policies of the configuration file. */
  configure(file: FilePolicies): void;
  /** Reads the stored rows again, for changes by other processes. */
  refresh(): Promise<void>;
}
