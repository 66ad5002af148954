import { assertStorable } from '../budgets/limits.ts';
import { type ObjectPermission, patchedPermission } from '../object-permissions/object-permission.ts';
import { assertLabel } from '../spend/label.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';

/** Regions to which the calls of a customer may be limited. */
export const REGIONS = ['eu', 'us'] as const;
export type Region = (typeof REGIONS)[number];

/** An end user of a client application, named by `user` of a model call. */
export interface Customer extends Stamps {
  readonly id: string;
  readonly alias: string | null;
  /** Calls that name a blocked customer are refused. */
  readonly blocked: boolean;
  /** Region that its calls may not leave; null allows any region. */
  readonly allowedModelRegion: Region | null;
  /** Model of calls whose own model has no deployment in that region. */
  readonly defaultModel: string | null;
  readonly budgetId: string | null;
  /** Limits the rights of its calls over MCP servers, agents and vector stores; null for none. */
  readonly objectPermission: ObjectPermission | null;
}

/** Changes to a customer. An absent member is unchanged, null clears it. */
export interface CustomerPatch {
  readonly alias?: string | null;
  readonly blocked?: boolean;
  readonly allowedModelRegion?: Region | null;
  readonly defaultModel?: string | null;
  readonly budgetId?: string | null;
  /** Members to set, see `patchedPermission`. */
  readonly objectPermission?: ObjectPermission | null;
}

/** Filter of a list of customers. All conditions that are neither null nor absent must match. */
export interface CustomerFilter {
  readonly ids: readonly string[] | null;
  /** Text that the id contains, ignoring letter case. */
  readonly idPart?: string | null;
  /** Text that the alias contains, ignoring letter case. */
  readonly aliasPart?: string | null;
  readonly budgetId?: string | null;
  readonly blocked?: boolean | null;
}

export type CustomerSort = 'created_at' | 'user_id' | 'user_alias';

export type CustomerStore = RowStore<Customer, CustomerFilter, CustomerSort>;

/** A new customer. Throws InvalidInput. */
export function newCustomer(patch: CustomerPatch, about: Authored & { readonly id: string }): Customer {
  assertLabel('user_id', about.id);
  const empty = {
    alias: null,
    blocked: false,
    allowedModelRegion: null,
    defaultModel: null,
    budgetId: null,
    objectPermission: null,
  };
  return patchedCustomer({ id: about.id, ...empty, ...newStamps(about) }, patch, about);
}

/** A customer with a patch applied. Throws InvalidInput. */
export function patchedCustomer(customer: Customer, patch: CustomerPatch, { now, by }: Authored): Customer {
  const { alias, defaultModel, objectPermission: sent, ...others } = patch;
  assertStorable({ user_id: customer.id, alias, default_model: defaultModel });
  const changes = Object.entries({ alias, defaultModel, ...others }).filter(([, value]) => value !== undefined);
  return {
    ...customer,
    ...(Object.fromEntries(changes) as Omit<CustomerPatch, 'objectPermission'>),
    ...(sent === undefined ? {} : { objectPermission: patchedPermission(customer.objectPermission, sent) }),
    updatedAt: now,
    updatedBy: by,
  };
}
