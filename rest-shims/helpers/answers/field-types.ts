import type { ValueKind } from '../../../src/domain/settings/value-kinds.ts';

/** `field_type` of a setting, by its kind. */
export const FIELD_TYPES: Readonly<Record<ValueKind, string>> = {
  integer: 'Integer',
  number: 'Float',
  flag: 'Boolean',
  text: 'String',
  duration: 'String',
  window: 'String',
  windows: 'List',
  address: 'String',
  list: 'List',
  texts: 'List',
  map: 'Dictionary',
  objects: 'List',
  any: 'String',
};
