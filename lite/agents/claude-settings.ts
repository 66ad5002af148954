import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { CommandFailure } from '../failure.ts';
import { makeFolderOf, readText, removeFile, replaceText } from '../files/private-files.ts';
import { type Host, variable } from '../host.ts';
import { isJsonObject, type JsonObject, jsonObjectOf } from '../../src/domain/json-object.ts';

/** Settings file that Claude Code reads. */
export function claudeSettingsFile(host: Host): string {
  const folder = variable(host, 'CLAUDE_CONFIG_DIR');
  if (folder === null) return join(host.home, '.claude', 'settings.json');
  return join(folder.replace(/^~(?=$|\/)/, host.home), 'settings.json');
}

/** Paths of all settings that `lite` writes: members of the file, or of `env` in the file. */
export const OWNED_PATHS = [
  'env.ENABLE_TOOL_SEARCH',
  'env.CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY',
  'env.ANTHROPIC_BASE_URL',
  'env.ANTHROPIC_AUTH_TOKEN',
  'env.ANTHROPIC_API_KEY',
  'env.ANTHROPIC_MODEL',
  'apiKeyHelper',
  'model',
] as const;

/** A settings file. `text` is null where the file does not exist. */
export interface SettingsFile {
  readonly path: string;
  readonly text: string | null;
  readonly content: JsonObject;
}

/** Reads a settings file. Throws CommandFailure unless the file, and `env` in it, are JSON objects. */
export function readSettings(path: string): SettingsFile {
  const text = readText(path);
  const content = text === null || text.trim() === '' ? {} : parseSettings(path, text);
  const { env } = content;
  if (env !== undefined && env !== null && !isJsonObject(env))
    throw new CommandFailure(`${path} has an "env" that is no object. Fix or remove it, then retry.`);
  return { path, text, content };
}

function parseSettings(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    // JSON.parse refuses a byte order mark, which editors on Windows write.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new CommandFailure(`${path} contains invalid JSON; cannot proceed safely.`);
  }
  if (!isJsonObject(value)) throw new CommandFailure(`${path} is no JSON object; cannot proceed safely.`);
  return value;
}

/** Replaces a settings file in one step. Only its owner may read it, because settings may have a key. Keeps a link. */
export function writeSettings(path: string, content: JsonObject): void {
  writeSettingsText(path, `${JSON.stringify(content, null, 2)}\n`);
}

export function writeSettingsText(path: string, text: string): void {
  makeFolderOf(path);
  replaceText(path, text);
}

export const removeSettings = (path: string): boolean => removeFile(path);

/** Value at a path of `OWNED_PATHS`; undefined for none. */
export function valueAt(content: JsonObject, path: string): unknown {
  const [first = '', second] = path.split('.');
  return second === undefined ? content[first] : jsonObjectOf(content[first])[second];
}

/** Copy of the settings with another value at a path. Undefined removes the member. */
export function withValue(content: JsonObject, path: string, value: unknown): JsonObject {
  const [first = '', second] = path.split('.');
  const next = second === undefined ? value : withMember(jsonObjectOf(content[first]), second, value);
  if (second !== undefined && value === undefined && content[first] === undefined) return content;
  return withMember(content, first, next);
}

function withMember(members: JsonObject, name: string, value: unknown): JsonObject {
  if (value !== undefined) return { ...members, [name]: value };
  const { [name]: _removed, ...rest } = members;
  return rest;
}

/** Starting model: a name, null to keep the model of the file, or `unpin` to remove a model that `lite` wrote. */
export type ModelChoice = string | null | { readonly unpin: true };

/** Copy of the settings with address, key and model of a server. The key is not encrypted. */
export function settingsForServer(
  content: JsonObject,
  options: { readonly baseUrl: string; readonly key: string; readonly model: ModelChoice },
): JsonObject {
  const { baseUrl, key, model } = options;
  const env = jsonObjectOf(content['env']);
  const values: readonly (readonly [string, unknown])[] = [
    ['env.ENABLE_TOOL_SEARCH', env['ENABLE_TOOL_SEARCH'] ?? 'true'],
    ['env.CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY', env['CLAUDE_CODE_ENABLE_GATEWAY_MODEL_DISCOVERY'] ?? '1'],
    ['env.ANTHROPIC_BASE_URL', baseUrl],
    ['env.ANTHROPIC_AUTH_TOKEN', key],
    // Claude Code would use these credentials instead of the token.
    ['env.ANTHROPIC_API_KEY', undefined],
    ['apiKeyHelper', undefined],
    ...(typeof model === 'string'
      ? ([
          ['model', model],
          ['env.ANTHROPIC_MODEL', model],
        ] as const)
      : []),
  ];
  return values.reduce((settings, [path, value]) => withValue(settings, path, value), content);
}

/** Models that Claude Code calls for a size of model, such as `opus`. */
const DEFAULT_MODELS = [
  'env.ANTHROPIC_DEFAULT_OPUS_MODEL',
  'env.ANTHROPIC_DEFAULT_SONNET_MODEL',
  'env.ANTHROPIC_DEFAULT_HAIKU_MODEL',
] as const;

/** Paths of `DEFAULT_MODELS`, and of other variables of this kind in the settings. */
export function defaultModelPaths(...contents: readonly JsonObject[]): readonly string[] {
  const names = contents.flatMap(({ env }) => Object.keys(jsonObjectOf(env)));
  const others = names.filter((name) => /^ANTHROPIC_DEFAULT_\w+_MODEL$/.test(name)).map((name) => `env.${name}`);
  return [...new Set([...DEFAULT_MODELS, ...others])];
}

/** Like `settingsForServer`, and every model that Claude Code calls by itself is the given model. */
export function settingsForRouter(
  content: JsonObject,
  options: { readonly baseUrl: string; readonly key: string; readonly model: string },
): JsonObject {
  return defaultModelPaths(content).reduce(
    (settings, path) => withValue(settings, path, options.model),
    settingsForServer(content, options),
  );
}

export const isEqualJson = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);
