import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { isJsonObject } from '../../domain/json-object.ts';
import { type PolicyAttachment, validAttachment } from '../../domain/policies/attachment.ts';
import type { FilePolicies } from '../../domain/policies/policies.ts';
import { createPolicyBook } from '../../domain/policies/policy-book.ts';
import { assertName, inheritanceOf, policiesInForce, type Policy, rulesOfEntry } from '../../domain/policies/policy.ts';
import { modelMatcher } from '../policies/model-matcher.ts';
import type { ConfigDocument } from './config-document.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import { faultAt, type FaultReceivers, isOff, pathOfIssue } from './section-entries.ts';

const texts = z.array(z.string()).nullish();
const action = z.enum(['next', 'allow', 'block', 'modify_response']).nullish();

/** Schema of a policy of the file, for editors only. `rulesOfEntry` checks the policies of the file. */
export const policyEntry = z.looseObject({
  description: z.string().nullish(),
  inherit: z.string().nullish(),
  guardrails: z.looseObject({ add: texts, remove: texts }).nullish(),
  condition: z.looseObject({ model: z.union([z.string(), z.array(z.string())]).nullish() }).nullish(),
  pipeline: z
    .looseObject({
      mode: z.enum(['pre_call', 'post_call']),
      steps: z.array(
        z.looseObject({
          guardrail: z.string(),
          on_pass: action,
          on_fail: action,
          on_error: action,
          pass_data: z.boolean().nullish(),
          modify_response_message: z.string().nullish(),
        }),
      ),
    })
    .nullish(),
});

/** Schema of an attachment of the file. */
export const attachmentEntry = z.looseObject({
  policy: z.string(),
  scope: z.string().nullish(),
  teams: texts,
  keys: texts,
  models: texts,
  tags: texts,
  priority: z.number().nullish(),
  default: z.boolean().nullish(),
});

const ATTACHMENT_MEMBERS = Object.keys(attachmentEntry.shape);
const FROM_FILE = { isFromConfig: true, createdAt: null, updatedAt: null, createdBy: null, updatedBy: null } as const;
const NONE: FilePolicies = { policies: [], attachments: [] };

type Refuse = (place: Path, message: string) => void;

/** Calls `read`. When it throws a DomainError, calls `refused` with the message and returns null. */
function valueOrNull<Value>(read: () => Value, refused: (message: string) => void): Value | null {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof DomainError)) throw error;
    refused(error.message);
    return null;
  }
}

function policiesIn(section: unknown, refuse: Refuse): readonly Policy[] {
  const isEmptyList = Array.isArray(section) && section.length === 0;
  if (isOff(section) || isEmptyList) return [];
  if (!isJsonObject(section)) {
    refuse(['policies'], 'must be a map of policies by name');
    return [];
  }
  return Object.entries(section).flatMap(([name, entry]) => {
    const rules = valueOrNull(
      () => {
        assertName('the name', name);
        return rulesOfEntry(entry ?? {});
      },
      (message) => refuse(['policies', name], message),
    );
    if (rules === null) return [];
    const version = {
      version: 1,
      status: 'production',
      parentId: null,
      publishedAt: null,
      productionAt: null,
    } as const;
    return [{ ...rules, ...version, ...FROM_FILE, id: name, name }];
  });
}

function attachmentsIn(
  section: unknown,
  { refuse, warn }: { readonly refuse: Refuse; readonly warn: Refuse },
): readonly PolicyAttachment[] {
  const parsed = z.array(attachmentEntry).safeParse(isOff(section) ? [] : section);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) refuse(['policy_attachments', ...pathOfIssue(issue)], issue.message);
    return [];
  }
  return parsed.data.flatMap((entry, index) => {
    const place = ['policy_attachments', index] as const;
    for (const name of Object.keys(entry))
      if (!ATTACHMENT_MEMBERS.includes(name)) warn([...place, name], unknownMember(name, ATTACHMENT_MEMBERS));
    const { policy: policyName, scope = null, teams, keys, models, tags, priority = null } = entry;
    const dimensions = { teams: teams ?? [], keys: keys ?? [], models: models ?? [], tags: tags ?? [] };
    const rules = valueOrNull(
      () => validAttachment({ policyName, scope, ...dimensions, priority, isDefault: entry.default === true }),
      (message) => refuse(place, message),
    );
    return rules === null ? [] : [{ ...rules, ...FROM_FILE, id: `config-attachment-${index}` }];
  });
}

/**
 * The policies and attachments of the file; none when any has a wrong value. `fault` is called for each wrong value.
 */
export function readPolicies(document: ConfigDocument, { fault, faultIfStrict }: FaultReceivers): FilePolicies {
  let isRefused = false;
  const refuse: Refuse = (place, message) => {
    isRefused = true;
    fault(faultAt(document, place, message));
  };
  const warn: Refuse = (place, message) => faultIfStrict(faultAt(document, place, message));
  const policies = policiesIn(document.content['policies'], refuse);
  const attachments = attachmentsIn(document.content['policy_attachments'], { refuse, warn });
  const inForce = policiesInForce(policies);
  for (const policy of policies) {
    valueOrNull(
      () => createPolicyBook([policy], [], modelMatcher),
      (message) => refuse(['policies', policy.name], message),
    );
    // Only a cycle is refused here: a parent that the file does not have is possibly stored in the database.
    const inheritance = inheritanceOf(policy, inForce);
    if (inheritance.fault?.isCycle === true) refuse(['policies', policy.name, 'inherit'], inheritance.fault.message);
  }
  return isRefused ? NONE : { policies, attachments };
}
