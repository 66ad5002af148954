import { Conflict, NotFound } from '../src/domain/errors.ts';
import { tagsOfMetadata } from '../src/domain/calls/call-tags.ts';
import type { VirtualKey } from '../src/domain/keys/virtual-key.ts';
import {
  type AttachmentRules,
  type PolicyAttachment,
  unknownAttachment,
  validAttachment,
} from '../src/domain/policies/attachment.ts';
import { affectsEveryKey, type AttachmentImpact, countImpact } from '../src/domain/policies/attachment-impact.ts';
import { ALL_TEAMS } from '../src/domain/teams/team.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import { policyAdmin, policyViewer } from './operation/policy-access.ts';
import type { PolicyPlatform } from './operation/policy-platform.ts';
import type { Scope } from './operation/scope.ts';

type AttachmentScope = Scope<Pick<PolicyPlatform, 'policies' | 'clock' | 'ids' | 'stores'>>;

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

const EVERY_KEY = {
  hash: null,
  alias: null,
  teamId: null,
  userId: null,
  blocked: null,
  status: null,
  visibleTo: null,
} as const;

/** Maximum number of keys that an estimate reads at once. */
const BATCH_SIZE = 500;

/** All keys that are not deleted, the oldest first, in batches. */
async function* keyBatches({ platform: { stores, clock } }: AttachmentScope): AsyncGenerator<readonly VirtualKey[]> {
  const page = {
    filter: EVERY_KEY,
    now: clock.now(),
    sort: 'created_at',
    descending: false,
    limit: BATCH_SIZE,
  } as const;
  let keys = await stores.keys.list({ ...page, from: 0 });
  for (;;) {
    yield keys;
    const last = keys.at(-1);
    if (last === undefined || keys.length < BATCH_SIZE) return;
    keys = await stores.keys.list({ ...page, from: last });
  }
}

/**
 * Counts the keys and teams to whose calls an attachment would apply; null for every key. Nothing is stored, and the
 * policy need not exist. Throws InvalidInput for rules that cannot be stored.
 */
export const estimateAttachmentImpact = operation({
  name: 'estimateAttachmentImpact',
  access: policyViewer,
  async run(scope: AttachmentScope, rules: AttachmentRules): Promise<AttachmentImpact | null> {
    if (affectsEveryKey(validAttachment(rules))) return null;
    const { stores } = scope.platform;
    const teams = new Map((await stores.teams.all(ALL_TEAMS)).map((team) => [team.id, team]));
    const counted = countImpact(rules);
    for await (const keys of keyBatches(scope)) {
      const projectIds = new Set(keys.flatMap(({ settings }) => settings.projectId ?? []));
      const projects = new Map((await stores.projects.findMany([...projectIds])).map(({ id, tags }) => [id, tags]));
      for (const key of keys) {
        const team = key.teamId === null ? undefined : teams.get(key.teamId);
        counted.addKey({
          keyAlias: key.alias,
          teamId: key.teamId,
          teamAlias: team?.alias ?? null,
          tags: [
            ...tagsOfMetadata(key.metadata),
            ...tagsOfMetadata(team?.metadata),
            ...(projects.get(key.settings.projectId ?? '') ?? []),
          ],
        });
      }
    }
    for (const { id, alias, metadata } of teams.values())
      counted.addTeam({ teamId: id, teamAlias: alias, tags: tagsOfMetadata(metadata) });
    return counted.impact();
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
