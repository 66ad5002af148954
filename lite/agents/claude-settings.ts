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

/** Settings that a command writes, as a member of the file or of its `env`. */
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

/** Reads a settings file. Throws CommandFailure for one that is no JSON object, or whose `env` is none. */
export function readSettings(path: string): SettingsFile {
  const text = readText(path);
  const content = text === null || text.trim() === '' ? {} : parsed(path, text);
  const { env } = content;
  if (env !== undefined && env !== null && !isJsonObject(env))
    throw new CommandFailure(`${path} has an "env" that is no object. Fix or remove it, then retry.`);
  return { path, text, content };
}

function parsed(path: string, text: string): JsonObject {
  let value: unknown;
  try {
    // A byte order mark is no JSON.
    value = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    throw new CommandFailure(`${path} contains invalid JSON; cannot proceed safely.`);
  }
  if (!isJsonObject(value)) throw new CommandFailure(`${path} is no JSON object; cannot proceed safely.`);
  return value;
}

/** Writes a settings file in one step. It may have a key, so only its owner reads it. A link is kept. */
export function writeSettings(path: string, content: JsonObject): void {
  writeSettingsText(path, `${JSON.stringify(content, null, 2)}\n`);
}

export function writeSettingsText(path: string, text: string): void {
  makeFolderOf(path);
  replaceText(path, text);
}

export const removeSettings = (path: string): boolean => removeFile(path);

/** Value at a path; undefined for none. */
export function valueAt(content: JsonObject, path: string): unknown {
  const [first = '', second] = path.split('.');
  return second === undefined ? content[first] : jsonObjectOf(content[first])[second];
}

/** Settings with another value at a path. Undefined removes the member. */
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

/** A starting model, null to keep what the file has, or no model. */
export type ModelChoice = string | null | { readonly unpin: true };

/** Settings with which Claude Code calls a server. The file has the key as it is. */
export function routed(
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
    // Another credential would win over the token.
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

/** Whether two values are the same JSON. */
export const isSame = (a: unknown, b: unknown): boolean => isDeepStrictEqual(a, b);
