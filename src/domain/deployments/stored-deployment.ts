import type { JsonObject } from '../json-object.ts';
import { assertStorable } from '../budgets/limits.ts';
import { sameValue } from '../catalog/same-value.ts';
import { Conflict } from '../errors.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { type Parameters, splitParameters, patchedParameters } from './parameters.ts';
import { isPriceField } from './price-fields.ts';
import { MADE_BY_TEAM } from './team-models.ts';

/** A deployment that administrators made at run time. It is used like one of the configuration file. */
export interface StoredDeployment extends Parameters, Stamps {
  readonly id: string;
  /** Its public model name. */
  readonly modelGroup: string;
  /** Facts about the model (`model_info`), without its id and without prices. */
  readonly info: JsonObject;
  /** Calls are not sent to it. */
  readonly blocked: boolean;
  /**
   * Whether its parameters could not be decrypted, because they were encrypted with another salt key. If so, `params`
   * and `secrets` are empty.
   */
  readonly unreadable: boolean;
}

/**
 * Members of a new deployment, or changes to a stored one. An absent member is unchanged. In maps, null removes an
 * entry.
 */
export interface DeploymentPatch {
  readonly modelGroup?: string;
  readonly params?: JsonObject;
  readonly info?: JsonObject;
  readonly blocked?: boolean;
}

/** Filter of stored deployments: null lists all. */
interface StoredDeploymentFilter {
  readonly ids: readonly string[] | null;
}

/** Persistent deployments. */
export interface DeploymentStore extends RowStore<StoredDeployment, StoredDeploymentFilter> {
  /** Version text. It differs after every change of any row, also by another process. */
  fingerprint(): Promise<string>;
}

/**
 * Members of `model_info` that a request cannot set. The server adds them to its answers, and clients send them back
 * when they edit an answer.
 */
const IGNORED_INFO = new Set([
  'id',
  'db_model',
  'blocked',
  'pricing_overrides',
  'access_via_team_ids',
  'direct_access',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
  // Unlike the others, this one is stored: see `markOf`.
  MADE_BY_TEAM,
]);

/**
 * The stored `model_info` after a change; null removes a member. Prices are not part of it: they are parameters.
 *
 * A `model_info` with a `key` is an edited answer of this server. Such an answer contains `row`, the row of the price
 * map, so members that equal the row are not stored.
 */
function storedInfo(before: JsonObject, sent: JsonObject, row: JsonObject): JsonObject {
  const isEditedAnswer = Object.hasOwn(sent, 'key');
  const isFromPriceMap = (name: string): boolean =>
    isEditedAnswer && Object.hasOwn(sent, name) && Object.hasOwn(row, name) && sameValue(row[name], sent[name]);
  const isStored = (name: string): boolean =>
    name !== 'key' && !IGNORED_INFO.has(name) && !isPriceField(name) && !isFromPriceMap(name);
  const members = Object.entries({ ...before, ...sent });
  return Object.fromEntries(members.filter(([name, value]) => value !== null && isStored(name)));
}

/** Prices that `model_info` sets to null. They are removed from the parameters, where prices are stored. */
const clearedPrices = (info: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(info).filter(([name, value]) => value === null && isPriceField(name)));

/** The member of `model_info` that marks a deployment of a team administrator. */
const markOf = ({ byTeam = false }: { readonly byTeam?: boolean }): JsonObject =>
  byTeam ? { [MADE_BY_TEAM]: true } : {};

/** A new deployment. `row` is the row of the price map for its model. Throws InvalidInput. */
export function newStoredDeployment(
  {
    modelGroup,
    params,
    info = {},
    blocked = false,
  }: DeploymentPatch & { readonly modelGroup: string; readonly params: JsonObject },
  about: Authored & { readonly id: string; readonly row: JsonObject; readonly byTeam?: boolean },
): StoredDeployment {
  assertStorable({ model_name: modelGroup, model_id: about.id });
  return {
    id: about.id,
    modelGroup,
    ...splitParameters(Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null))),
    info: { ...storedInfo({}, info, about.row), ...markOf(about) },
    blocked,
    unreadable: false,
    ...newStamps(about),
  };
}

/** A deployment with a patch applied. Throws InvalidInput, and Conflict where its parameters could not be decrypted. */
export function patchedDeployment(
  before: StoredDeployment,
  patch: DeploymentPatch,
  { now, by, row }: Authored & { readonly row: JsonObject },
): StoredDeployment {
  const { modelGroup = before.modelGroup, params = {}, info = {}, blocked = before.blocked } = patch;
  if (before.unreadable)
    throw new Conflict(`The model ${before.id} was stored with another salt key. Delete it and create it again.`);
  assertStorable({ model_name: modelGroup });
  return {
    ...before,
    modelGroup,
    ...patchedParameters(before, { ...clearedPrices(info), ...params }),
    info: { ...storedInfo(before.info, info, row), ...markOf({ byTeam: before.info[MADE_BY_TEAM] === true }) },
    blocked,
    updatedAt: now,
    updatedBy: by,
  };
}
