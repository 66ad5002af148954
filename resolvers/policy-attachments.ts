import { Conflict, NotFound } from '../src/domain/errors.ts';
import { type AttachmentRules, type PolicyAttachment, unknownAttachment } from '../src/domain/policies/attachment.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import { policyAdmin, policyViewer } from './operation/policy-access.ts';
import type { PolicyPlatform } from './operation/policy-platform.ts';
import type { Scope } from './operation/scope.ts';

type AttachmentScope = Scope<Pick<PolicyPlatform, 'policies' | 'clock' | 'ids'>>;

function attachmentOf({ platform }: AttachmentScope, id: string): PolicyAttachment {
  const attachment = platform.policies.attachments().find((one) => one.id === id);
  if (attachment === undefined) throw unknownAttachment(id);
  return attachment;
}

/** Lists the attachments of policies, those of the configuration file first. */
export const listPolicyAttachments = operation({
  name: 'listPolicyAttachments',
  access: policyViewer,
  run: ({ platform }: AttachmentScope, _input: undefined): readonly PolicyAttachment[] =>
    platform.policies.attachments(),
});

/** Reads one attachment by its id. Throws NotFound. */
export const getPolicyAttachment = operation({
  name: 'getPolicyAttachment',
  access: policyViewer,
  run: (scope: AttachmentScope, { id }: { readonly id: string }): PolicyAttachment => attachmentOf(scope, id),
});

/**
 * Stores an attachment, which applies a policy to calls. Throws NotFound for a policy that is not in force, and
 * InvalidInput.
 */
export const createPolicyAttachment = operation({
  name: 'createPolicyAttachment',
  access: policyAdmin,
  async run(scope: AttachmentScope, rules: AttachmentRules): Promise<PolicyAttachment> {
    const { policies, ids } = scope.platform;
    const { policyName } = rules;
    if (!policies.book().has(policyName))
      throw new NotFound('policy', policyName, `Policy '${policyName}' not found. Create the policy first.`);
    return await policies.attach({ ...rules, id: ids.uuid() }, authored(scope));
  },
});

/** Removes an attachment. Throws NotFound, and Conflict for an attachment of the configuration file. */
export const deletePolicyAttachment = operation({
  name: 'deletePolicyAttachment',
  access: policyAdmin,
  async run(scope: AttachmentScope, { id }: { readonly id: string }): Promise<PolicyAttachment> {
    if (attachmentOf(scope, id).isFromConfig)
      throw new Conflict(`Attachment '${id}' is defined in the configuration file and can only be changed there`);
    const removed = await scope.platform.policies.detach(id);
    if (removed === null) throw unknownAttachment(id);
    return removed;
  },
});
