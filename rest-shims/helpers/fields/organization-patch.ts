import { InvalidInput } from '../../../src/domain/errors.ts';
import { windowEnd } from '../../../src/domain/keys/durations.ts';
import type { OrganizationPatch } from '../../../src/domain/organizations/organization.ts';
import { members, object, optional, parseObject, requiredText, requiredTexts } from '../http/body-fields.ts';
import { assertKnownMembers, valueFault } from '../http/known-members.ts';
import { type JsonSchema, merged } from '../http/schema.ts';
import { BUDGET_MEMBERS, budgetFrom, withoutUndefined } from './limits.ts';
import { OBJECT_PERMISSION } from './object-permission.ts';

const readPatch = members({
  organization_alias: optional(requiredText),
  models: optional(requiredTexts),
  metadata: optional(object),
  ...OBJECT_PERMISSION,
});

/** Amounts and counts of a budget, which must not be negative. */
const NUMBERS = ['max_budget', 'soft_budget', 'tpm_limit', 'rpm_limit', 'max_parallel_requests'] as const;
const BUDGET: readonly string[] = [...NUMBERS, 'budget_duration', 'model_max_budget'];

const { properties, ...schema } = merged(readPatch, BUDGET_MEMBERS);
const known = new Set([...Object.keys(readPatch.schema['properties'] as object), ...BUDGET]);

/** Schema of the body of a strict patch of an organization. */
export const ORGANIZATION_PATCH: JsonSchema = {
  ...schema,
  properties: Object.fromEntries(Object.entries(properties as object).filter(([name]) => known.has(name))),
  additionalProperties: false,
};

/** Throws InvalidInput with an issue at the member, for a malformed duration. */
function assertDuration(duration: string): void {
  try {
    windowEnd(duration, new Date(0));
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error;
    throw valueFault(['body', 'budget_duration'], error.message);
  }
}

/**
 * A strict patch of an organization and its budget. Absent members stay unchanged. Null clears limits, `metadata` and
 * `object_permission`. Throws InvalidInput with issues, also for unknown members.
 */
export function parseOrganizationPatch(body: Uint8Array) {
  const input = parseObject(body);
  assertKnownMembers(input, known, ['body']);
  const { organization_alias: alias, models, metadata, object_permission: objectPermission } = readPatch(input);
  const limits = budgetFrom(input);
  for (const name of NUMBERS)
    if (Number(input[name] ?? 0) < 0) throw valueFault(['body', name], `${name} cannot be negative`);
  if (typeof limits.budgetDuration === 'string') assertDuration(limits.budgetDuration);
  if (objectPermission !== undefined && objectPermission !== null && Object.keys(objectPermission).length === 0)
    throw valueFault(['body', 'object_permission'], 'object_permission has no members. Send null to clear it.');
  const patch: OrganizationPatch = withoutUndefined({ alias, models, metadata, objectPermission });
  return { patch, limits };
}
