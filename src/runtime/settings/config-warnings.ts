import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { pricesInputOnly } from '../../domain/deployments/price-warning.ts';
import { valueFaults } from '../../domain/settings/value-faults.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { MODEL_INFO_KEYS, MODEL_KEYS } from './deployments.ts';
import { nearestOf } from './nearest-name.ts';
import { MODEL_EFFECTS, UNSUPPORTED_KEYS, UNSUPPORTED_SECTIONS, type UnsupportedKeys } from './reference-keys.ts';
import type { Setting } from './setting.ts';
import { SETTINGS } from './table.ts';

const ROWS: readonly Setting[] = Object.values(SETTINGS);
const FILE_PATHS: readonly string[] = ROWS.flatMap(({ file }) => (file === undefined ? [] : [file]));
const NONE: UnsupportedKeys = { effects: {}, others: [] };
const PLAIN_NAME = /^[\w.-]{1,60}$/;

/** Names of the keys directly below a path of the file that lead to settings; `''` is the top level. */
function settingKeysBelow(path: string): ReadonlySet<string> {
  const start = path === '' ? '' : `${path}.`;
  const below = FILE_PATHS.filter((file) => file.startsWith(start)).map((file) => file.slice(start.length));
  return new Set(below.map((rest) => rest.split('.')[0] ?? ''));
}

/**
 * Sections, keys and values of the file that have no effect, are not known or are probably wrong, one warning each. No
 * warning repeats a value, except names of callbacks. There is no warning about an unsupported key whose value means
 * "off" (false, null, empty).
 */
export function configWarnings(document: ConfigDocument): readonly ConfigFault[] {
  const warnings = [...document.warnings];
  const warn = (path: Path, message: string): void => {
    warnings.push({ ...document.placeOf(path), key: path.join('.'), message });
  };
  const [file] = document.files;
  if (file !== undefined && document.files.length === 1 && Object.keys(document.content).length === 0)
    warnings.push({ source: file, line: null, key: '', message: 'is empty: every setting has its default' });
  checkMap(document.content, [], warn);
  checkValues(document.content, warn);
  checkCallbacks(document.content, warn);
  checkModels(document.content, warn);
  return warnings;
}

type Warn = (path: Path, message: string) => void;

/** Checks the keys of a map, and of the maps in it that contain settings. */
function checkMap(entries: JsonObject, path: Path, warn: Warn): void {
  const dotted = path.join('.');
  const settingKeys = settingKeysBelow(dotted);
  const otherSections = [
    'model_list',
    'guardrails',
    'agents',
    'agent_list',
    'vector_store_registry',
    'search_tools',
    'policies',
    'policy_attachments',
    'prompts',
    'mcp_servers',
    'credential_list',
    'include',
    'environment_variables',
  ];
  const known = path.length === 0 ? new Set([...settingKeys, ...otherSections]) : settingKeys;
  const unsupported = path.length === 0 ? UNSUPPORTED_SECTIONS : (UNSUPPORTED_KEYS[dotted] ?? NONE);
  for (const [name, value] of Object.entries(entries)) {
    const here = [...path, name];
    if (known.has(name)) {
      const isSection = !FILE_PATHS.includes(here.join('.')) && settingKeysBelow(here.join('.')).size > 0;
      if (isSection && isJsonObject(value)) checkMap(value, here, warn);
    } else if (isUnsupported(unsupported, name)) {
      if (!isOff(value)) warn(here, noEffect(unsupported.effects[name]));
    } else warn(here, unknownKeyWarning(name, { known, unsupported, dotted }));
  }
}

/** Checks the values of settings without a row in the table. Settings with a row are checked when they are read. */
function checkValues(content: JsonObject, warn: Warn): void {
  for (const section of ['general_settings', 'litellm_settings', 'router_settings']) {
    const entries = content[section];
    for (const [name, value] of Object.entries(isJsonObject(entries) ? entries : {})) {
      if (value === '' || FILE_PATHS.includes(`${section}.${name}`)) continue;
      for (const { path, message } of valueFaults(section, name, value)) warn([section, name, ...path], message);
    }
  }
}

const isUnsupported = ({ effects, others }: UnsupportedKeys, name: string): boolean =>
  Object.hasOwn(effects, name) || others.includes(name);

const noEffect = (effect: string | undefined): string =>
  effect === undefined ? 'has no effect' : `has no effect: ${effect}`;

function unknownKeyWarning(
  name: string,
  about: { readonly known: ReadonlySet<string>; readonly unsupported: UnsupportedKeys; readonly dotted: string },
): string {
  const { known, unsupported, dotted } = about;
  if (FILE_PATHS.includes(name)) return `is not a known setting here; it belongs to the top level of the file`;
  const elsewhere = FILE_PATHS.find((path) => path.endsWith(`.${name}`) && path !== `${dotted}.${name}`);
  if (elsewhere !== undefined) return `is not a known setting here; did you mean ${elsewhere}?`;
  const nearest = nearestOf(name, [...known, ...Object.keys(unsupported.effects), ...unsupported.others]);
  return nearest === null ? 'is not a known setting' : `is not a known setting; did you mean ${nearest}?`;
}

/** Warns of callbacks other than `otel`: they have no effect. */
function checkCallbacks({ litellm_settings: shared }: JsonObject, warn: Warn): void {
  const callbacks = isJsonObject(shared) ? [shared['callbacks']].flat() : [];
  const others = callbacks.filter((name) => name !== 'otel' && !isOff(name));
  if (others.length === 0) return;
  const named = others.map((name) => (typeof name === 'string' && PLAIN_NAME.test(name) ? `"${name}"` : 'an entry'));
  const verb = others.length === 1 ? 'has' : 'have';
  warn(['litellm_settings', 'callbacks'], `${named.join(', ')} ${verb} no effect: no call is sent there`);
}

/** One warning for each key, at the first model that has the key. */
function checkModels({ model_list: models }: JsonObject, warn: Warn): void {
  if (!Array.isArray(models)) return;
  const found = new Map<string, { readonly path: Path; readonly message: string; count: number }>();
  const note = (path: Path, message: string): void => {
    // The path without `model_list` and the index of the model.
    const key = path.slice(2).join('.');
    const known = found.get(key);
    if (known === undefined) found.set(key, { path, message, count: 1 });
    else known.count += 1;
  };
  for (const [index, model] of models.entries())
    if (isJsonObject(model)) checkModel(model, ['model_list', index], note);
  for (const { path, message, count } of found.values())
    warn(path, count === 1 ? message : `${message} (in ${count} models)`);
}

function checkModel(model: JsonObject, path: Path, note: Warn): void {
  const { litellm_params: params, model_info: info, ...rest } = model;
  for (const name of Object.keys(rest)) if (name !== 'model_name') note([...path, name], misplacedKeyWarning(name));
  for (const [name, value] of Object.entries(isJsonObject(params) ? params : {})) {
    if (MODEL_KEYS.test(name) || isOff(value)) continue;
    const nearest = Object.hasOwn(MODEL_EFFECTS, name) ? null : nearestOf(name, MODEL_KEYS.names);
    const message = nearest === null ? noEffect(MODEL_EFFECTS[name]) : `has no effect; did you mean ${nearest}?`;
    note([...path, 'litellm_params', name], message);
  }
  // Prices may be in either map.
  const prices = { ...(isJsonObject(info) ? info : {}), ...(isJsonObject(params) ? params : {}) };
  if (pricesInputOnly(prices, `${String(prices['model'])} ${String(prices['mode'])}`))
    note([...path, 'litellm_params', 'input_cost_per_token'], INPUT_ONLY);
  const unsupported = UNSUPPORTED_KEYS['model_info'] ?? NONE;
  for (const [name, value] of Object.entries(isJsonObject(info) ? info : {})) {
    if (MODEL_INFO_KEYS.includes(name) || isOff(value)) continue;
    if (isUnsupported(unsupported, name)) note([...path, 'model_info', name], noEffect(unsupported.effects[name]));
  }
}

const INPUT_ONLY =
  'prices input alone: output is free unless the catalog has a price for the model; set output_cost_per_token, 0 for free output';

/** Warning about a key beside `litellm_params` that may belong inside. */
function misplacedKeyWarning(name: string): string {
  if (MODEL_KEYS.test(name)) return `has no effect here; did you mean litellm_params.${name}?`;
  const nearest = nearestOf(name, ['model_name', 'litellm_params', 'model_info']);
  return nearest === null ? 'has no effect' : `is not a known setting; did you mean ${nearest}?`;
}

/** False, null, and empty texts, lists and maps. */
const isOff = (value: unknown): boolean =>
  value === false ||
  value === null ||
  value === undefined ||
  value === '' ||
  (typeof value === 'object' && Object.keys(value).length === 0);
