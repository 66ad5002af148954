import type { JsonObject } from '../json-object.ts';
import { mergedMetadata } from '../keys/key-settings.ts';
import { assertStorable } from '../budgets/limits.ts';
import { type ObjectPermission, patchedPermission } from '../object-permissions/object-permission.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** A group of teams with a budget. */
export interface Organization extends Stamps {
  readonly id: string;
  readonly alias: string;
  readonly budgetId: string;
  /** Models that its keys may call, and that its teams may list; empty is every model. */
  readonly models: readonly string[];
  readonly metadata: JsonObject;
  /** Limits the rights of its keys over MCP servers, agents and vector stores; null for none. */
  readonly objectPermission: ObjectPermission | null;
}

export interface OrganizationPatch {
  readonly alias?: string;
  readonly budgetId?: string;
  readonly models?: readonly string[];
  readonly metadata?: JsonObject;
  /** Members to set in the metadata; a null removes the member. */
  readonly metadataMembers?: JsonObject;
  /** Members to set, see `patchedPermission`. */
  readonly objectPermission?: ObjectPermission | null;
}

/** Filter of a list of organizations. All conditions that are not null must match. */
interface OrganizationFilter {
  readonly ids: readonly string[] | null;
  /** Text that the alias contains, ignoring letter case. */
  readonly aliasPart: string | null;
}

export type OrganizationSort = 'created_at' | 'organization_alias';

export type OrganizationStore = RowStore<Organization, OrganizationFilter, OrganizationSort>;

/** Roles of a member of an organization. An `org_admin` manages its teams and members. */
export const ORGANIZATION_ROLES = ['org_admin', 'internal_user', 'internal_user_viewer'] as const;
export type OrganizationRole = (typeof ORGANIZATION_ROLES)[number];

/** A user in an organization, at most once. */
export interface OrganizationMember extends Stamps {
  readonly id: string;
  readonly organizationId: string;
  readonly userId: string;
  readonly role: OrganizationRole;
  readonly budgetId: string | null;
}

/** Filter of members. All conditions that are not null must match. */
interface OrganizationMemberFilter {
  readonly organizationIds: readonly string[] | null;
  readonly userIds: readonly string[] | null;
}

export type OrganizationMemberStore = RowStore<OrganizationMember, OrganizationMemberFilter>;

/** A new organization. Throws InvalidInput. */
export function newOrganization(
  patch: OrganizationPatch,
  about: Authored & { readonly id: string; readonly budgetId: string; readonly alias: string },
): Organization {
  const { id, alias, budgetId } = about;
  assertStorable({ organization_alias: alias });
  const empty = { models: [], metadata: {}, objectPermission: null };
  return patchedOrganization({ id, alias, budgetId, ...empty, ...newStamps(about) }, patch, about);
}

/** An organization with a patch applied. Throws InvalidInput. */
export function patchedOrganization(
  organization: Organization,
  { alias, budgetId, models, metadata, metadataMembers, objectPermission }: OrganizationPatch,
  { now, by }: Authored,
): Organization {
  assertStorable({ organization_id: organization.id, organization_alias: alias });
  return {
    ...organization,
    ...(alias === undefined ? {} : { alias }),
    ...(budgetId === undefined ? {} : { budgetId }),
    ...(models === undefined ? {} : { models }),
    ...(metadata === undefined ? {} : { metadata }),
    ...(metadataMembers === undefined
      ? {}
      : { metadata: mergedMetadata(metadata ?? organization.metadata, metadataMembers) }),
    ...(objectPermission === undefined
      ? {}
      : { objectPermission: patchedPermission(organization.objectPermission, objectPermission) }),
    updatedAt: now,
    updatedBy: by,
  };
}
