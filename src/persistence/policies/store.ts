import type { AttachmentStore } from '../../domain/policies/attachment.ts';
import { policyExists, type PolicyStore } from '../../domain/policies/policy.ts';
import type { Database } from '../database/database.ts';
import { createRowStore } from '../database/row-store.ts';
import { PolicyAttachmentEntity, PolicyEntity } from './entities.ts';

export const createPolicyStore = (database: Database): PolicyStore =>
  createRowStore(database, {
    entity: PolicyEntity,
    noun: 'policy',
    audited: 'policy',
    conflictText: ({ name, version }) =>
      version === 1 ? policyExists(name).message : `Policy '${name}' has a version ${version} already. Try again.`,
  });

export const createPolicyAttachmentStore = (database: Database): AttachmentStore =>
  createRowStore(database, {
    entity: PolicyAttachmentEntity,
    noun: 'policy attachment',
    audited: 'policy_attachment',
    conflictText: ({ id }) => `Attachment with ID ${id} already exists`,
  });
