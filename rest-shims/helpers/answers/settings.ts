import type { GeneralField } from '../../../src/domain/settings/general-fields.ts';
import type { SharedField } from '../../../src/domain/settings/shared-fields.ts';
import type { ValueKind } from '../../../src/domain/settings/value-kinds.ts';
import type { ListedSetting } from '../../../resolvers/settings.ts';
import { FIELD_TYPES } from './field-types.ts';

/** `field_type` in `/config/list`, by the kind of the setting. */
const TYPES: Readonly<Record<ValueKind, string>> = { ...FIELD_TYPES, map: 'TypedDictionary', objects: 'PydanticModel' };

type Nested = readonly [name: string, type: string, description: string];

/** Members of an entry of `pass_through_endpoints`. */
const PASS_THROUGH: readonly Nested[] = [
  ['id', 'str | None', 'Id of the endpoint.'],
  ['path', 'str', 'Path on this server.'],
  ['target', 'str', 'Address that requests are forwarded to.'],
  ['headers', 'dict', 'Headers of the forwarded request.'],
  ['default_query_params', 'dict', 'Query parameters that clients may replace.'],
  ['include_subpath', 'bool', 'Also forwards paths below `path`.'],
  ['cost_per_request', 'float', 'Price of a request in USD.'],
  ['timeout', 'float | None', 'Longest wait for the upstream, in seconds.'],
  ['auth', 'bool', 'Requires a key.'],
  ['guardrails', 'dict | None', 'Guardrails of the forwarded requests.'],
  ['is_from_config', 'bool', 'Declared by the configuration file.'],
  ['methods', 'list[str] | None', 'Methods; all when null.'],
];

const nested = (name: string) =>
  name === 'pass_through_endpoints'
    ? PASS_THROUGH.map(([field, type, description]) => ({
        field_name: field,
        field_type: type,
        field_description: description,
        field_default_value: null,
        stored_in_db: null,
      }))
    : null;

/** Whether a setting belongs to `litellm_settings`, and is edited together with the general settings. */
const isShared = (field: GeneralField | SharedField): field is SharedField => 'type' in field;

/** An entry of `/config/list`. */
export function renderListed({ view, field, isStored }: ListedSetting) {
  const shared = isShared(field);
  const isUnset = view.source === 'unset';
  return {
    field_name: view.name,
    field_type: shared ? field.type : TYPES[field.kind],
    field_description: field.description,
    field_value: isUnset && shared ? field.defaultValue : view.effectiveValue,
    stored_in_db: isStored,
    field_default_value: field.defaultValue,
    premium_field: false,
    nested_fields: nested(view.name),
    field_options: shared ? field.options : null,
    field_tab: shared ? field.tab : null,
    source: view.source,
    editable: view.editable,
  };
}
