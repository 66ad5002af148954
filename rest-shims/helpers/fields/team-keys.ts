import type { TeamKeysChange } from '../../../resolvers/team-keys.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import type { JsonObject } from '../../../src/domain/json-object.ts';
import { dictionary, flag, members, parseObject, required, requiredText, texts } from '../http/body-fields.ts';
import { assertKnownMembers, valueFault } from '../http/known-members.ts';
import { type JsonSchema, merged, objectSchema } from '../http/schema.ts';
import { KEY_CHANGE, parsePatch } from './keys.ts';

/** Members of a key that one request may set for several keys: no owners, rights and names. */
const FIELDS: ReadonlySet<string> = new Set([
  'max_budget',
  'budget_id',
  'budget_duration',
  'budget_limits',
  'model_max_budget',
  'tpm_limit',
  'rpm_limit',
  'model_tpm_limit',
  'model_rpm_limit',
  'max_parallel_requests',
  'rpm_limit_type',
  'tpm_limit_type',
  'temp_budget_increase',
  'temp_budget_expiry',
  'duration',
  'tags',
  'metadata',
]);

const PLACE = ['body', 'update_fields'] as const;
const readSelection = members({ team_id: requiredText, key_ids: texts, all_keys_in_team: flag });
const readFields = members({ update_fields: required(dictionary) });

const keyProperties = KEY_CHANGE['properties'] as Readonly<Record<string, JsonSchema>>;

/** Schema of the body that changes several keys of a team. */
export const TEAM_KEYS: JsonSchema = merged(
  readSelection,
  objectSchema(
    {
      update_fields: {
        ...objectSchema(Object.fromEntries(Object.entries(keyProperties).filter(([name]) => FIELDS.has(name)))),
        additionalProperties: false,
        minProperties: 1,
      },
    },
    ['update_fields'],
  ),
);

function assertFields(update: JsonObject): void {
  assertKnownMembers(update, FIELDS, PLACE);
  if (Object.keys(update).length === 0)
    throw valueFault(PLACE, 'update_fields must specify at least one field to update.');
  const { temp_budget_increase: increase = null, temp_budget_expiry: expiry = null } = update;
  if ((increase === null) !== (expiry === null))
    throw valueFault(PLACE, 'temp_budget_increase and temp_budget_expiry must be set together');
}

/** The team, its keys and their change. Throws InvalidInput unless the body names keys, or all keys of the team. */
export function parseTeamKeys(body: Uint8Array): TeamKeysChange {
  const input = parseObject(body);
  const { team_id: teamId, key_ids: keys, all_keys_in_team: isAll } = readSelection(input);
  const { update_fields: update } = readFields(input);
  assertFields(update);
  const patch = parsePatch(update, PLACE);
  if (keys.length > 0 && isAll === true)
    throw valueFault(['body'], 'Provide either `key_ids` or `all_keys_in_team=True`, not both.');
  if (keys.length === 0 && isAll !== true)
    throw valueFault(['body'], 'Must provide either `key_ids` (non-empty) or `all_keys_in_team=True`.');
  if (teamId === '') throw new InvalidInput('team_id is required', [], { field: 'team_id' });
  return { teamId, keys: isAll === true ? null : keys, patch };
}
