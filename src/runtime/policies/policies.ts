import { Conflict, InvalidInput } from '../../domain/errors.ts';
import { type AttachmentStore, type PolicyAttachment, validAttachment } from '../../domain/policies/attachment.ts';
import type { FilePolicies, Policies } from '../../domain/policies/policies.ts';
import { createPolicyBook, type PolicyBook } from '../../domain/policies/policy-book.ts';
import {
  assertName,
  inheritanceOf,
  policiesInForce,
  policyExists,
  type Policy,
  type PolicyStore,
  type StoredPolicy,
  validRules,
  type VersionStatus,
} from '../../domain/policies/policy.ts';
import { type Authored, newStamps } from '../../domain/row-store.ts';
import { createRowCache } from '../row-cache.ts';
import { modelMatcher } from './model-matcher.ts';

interface PolicyOptions {
  readonly configured: FilePolicies;
  readonly policies: PolicyStore;
  readonly attachments: AttachmentStore;
}

/** Statuses that may follow a status. */
const NEXT_STATUSES: Readonly<Record<VersionStatus, readonly VersionStatus[]>> = {
  draft: ['published'],
  published: ['production'],
  production: ['published'],
};

const policyOf = (row: StoredPolicy): Policy => ({ ...row, isFromConfig: false });

/** Policies of the configuration file and of the database, in memory. */
export function createPolicies({ configured, policies, attachments }: PolicyOptions): Policies {
  let file = configured;
  /** Compiled when it is read for the first time after a change. */
  let book: PolicyBook | null = null;
  const discardBook = (): void => {
    book = null;
  };
  const versions = createRowCache(policies, discardBook);
  const attached = createRowCache(attachments, discardBook);

  const isOfFile = (name: string): boolean => file.policies.some((one) => one.name === name);
  const list = (): readonly Policy[] => [
    ...file.policies,
    ...versions.rows().flatMap((row) => (isOfFile(row.name) ? [] : [policyOf(row)])),
  ];
  const allAttachments = (): readonly PolicyAttachment[] => [
    ...file.attachments,
    ...attached.rows().map((row) => ({ ...row, isFromConfig: false })),
  ];
  const bookOf = (all: readonly Policy[]): PolicyBook => createPolicyBook(all, allAttachments(), modelMatcher);

  function bookWith(policy: Policy): PolicyBook {
    const others = list().filter(({ name }) => name !== policy.name);
    const all = [...others, { ...policy, status: 'production' as const }];
    const inForce = policiesInForce(all);
    for (const one of inForce.values()) {
      // Checks this policy and those that inherit directly from it. Faults of other policies exist already.
      const isChecked = one.name === policy.name || one.inherit === policy.name;
      const fault = isChecked ? inheritanceOf(one, inForce).fault : null;
      if (fault !== null) throw new InvalidInput(`inherit: ${fault.message}`);
    }
    return bookOf(all);
  }

  /** Ends the status `production` of all other versions of the policy. */
  async function demoteOthers(promoted: StoredPolicy, { now, by }: Authored): Promise<void> {
    const others = (await policies.all(null)).filter(
      ({ id, name, status }) => name === promoted.name && status === 'production' && id !== promoted.id,
    );
    for (const { id } of others)
      // oxlint-disable-next-line no-await-in-loop -- there is rarely more than one
      await policies.change(id, (row) =>
        row.status === 'production' ? { ...row, status: 'published', updatedAt: now, updatedBy: by } : row,
      );
  }

  return {
    list,
    attachments: allAttachments,
    book: () => (book ??= bookOf(list())),
    bookWith,
    async add({ id, name, ...rules }, by) {
      assertName('policy_name', name);
      if (isOfFile(name)) throw policyExists(name);
      const row: StoredPolicy = {
        ...validRules(rules),
        id,
        name,
        version: 1,
        status: 'production',
        parentId: null,
        publishedAt: null,
        productionAt: by.now,
        ...newStamps(by),
      };
      bookWith(policyOf(row));
      await versions.refresh();
      if (versions.rows().some((one) => one.name === name)) throw policyExists(name);
      await policies.add(row);
      await versions.refresh();
      return policyOf(row);
    },
    async addVersion(source, id, by) {
      const { isFromConfig: _isFromConfig, ...copied } = source;
      const numbers = versions.rows().flatMap(({ name, version }) => (name === source.name ? [version] : []));
      const row: StoredPolicy = {
        ...copied,
        id,
        version: Math.max(...numbers) + 1,
        status: 'draft',
        parentId: source.id,
        publishedAt: null,
        productionAt: null,
        ...newStamps(by),
      };
      await policies.add(row);
      await versions.refresh();
      return policyOf(row);
    },
    async change(id, patch, { now, by }) {
      const changed = await policies.change(id, (row) => {
        if (row.status !== 'draft')
          throw new Conflict(
            `Only draft versions can be updated. Current status: '${row.status}'. Create a new version first.`,
          );
        const after = validRules({ ...row, ...patch, updatedAt: now, updatedBy: by });
        bookWith(policyOf(after));
        return after;
      });
      await versions.refresh();
      return changed === null ? null : policyOf(changed.after);
    },
    async setStatus(id, status, by) {
      const changed = await policies.change(id, (row) => {
        if (!NEXT_STATUSES[row.status].includes(status))
          throw new InvalidInput(
            `Invalid status transition from '${row.status}' to '${status}'. Possible: ${NEXT_STATUSES[row.status].join(', ')}.`,
          );
        if (status === 'production') bookWith(policyOf(row));
        return {
          ...row,
          status,
          publishedAt: row.status === 'draft' ? by.now : row.publishedAt,
          productionAt: status === 'production' ? by.now : row.productionAt,
          updatedAt: by.now,
          updatedBy: by.by,
        };
      });
      if (changed !== null && status === 'production') await demoteOthers(changed.after, by);
      await versions.refresh();
      return changed === null ? null : policyOf(changed.after);
    },
    async remove(ids) {
      const removed = await policies.remove(ids);
      await versions.refresh();
      return removed.map(policyOf);
    },
    async attach({ id, ...rules }, by) {
      const row = { id, ...validAttachment(rules), ...newStamps(by) };
      await attachments.add(row);
      await attached.refresh();
      return { ...row, isFromConfig: false };
    },
    async detach(id) {
      const [removed] = await attachments.remove([id]);
      await attached.refresh();
      return removed === undefined ? null : { ...removed, isFromConfig: false };
    },
    configure(next) {
      file = next;
      discardBook();
    },
    refresh: async () => {
      await Promise.all([versions.refresh(), attached.refresh()]);
    },
  };
}
