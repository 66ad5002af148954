import type { Caller } from '../caller.ts';
import { InvalidInput, NotFound } from '../errors.ts';
import { isJsonObject, type JsonObject } from '../json-object.ts';
import type { Authored, RowStore, Stamps } from '../row-store.ts';
import type { TemplateSection } from './template.ts';

/** One version of a prompt: a template of messages. */
export interface PromptVersion {
  /** `<prompt id>.v<version>`. */
  readonly id: string;
  readonly promptId: string;
  /** From 1. */
  readonly version: number;
  /** `litellm_params`, including the template. */
  readonly params: JsonObject;
  /** `prompt_info`: free-form information. */
  readonly info: JsonObject;
  /** `prompt_info.environment`, or its default. Calls do not select versions by it. */
  readonly environment: string;
  /** Whether the prompt is in the configuration file. If so, the members below are null, and run-time changes fail. */
  readonly isFromConfig: boolean;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
  readonly createdBy: string | null;
}

export type StoredPrompt = Omit<PromptVersion, 'isFromConfig' | keyof Stamps> & Stamps;
export type PromptStore = RowStore<StoredPrompt, null>;

/** A prompt to store. */
export interface PromptDraft {
  readonly promptId: string;
  readonly params: JsonObject;
  readonly info: JsonObject | null;
}

/** Changes to a version. An absent member is unchanged. */
export type PromptPatch = Partial<Pick<PromptDraft, 'params' | 'info'>>;

/** A valid template, in parts. */
export interface ParsedPrompt {
  /** The template without its front matter. */
  readonly content: string;
  /** The front matter: a YAML map before the template. Empty for a template without one. */
  readonly metadata: JsonObject;
  readonly sections: readonly TemplateSection[];
}

/** Prompts of the configuration file and of the database. */
export interface Prompts {
  /** All versions. A prompt of the file hides the stored prompt with the same id. */
  list(): readonly PromptVersion[];
  /** Parses a template in the dotprompt format. Throws InvalidInput. */
  parse(content: string): ParsedPrompt;
  /** The parsed template of a version. */
  parsed(version: PromptVersion): ParsedPrompt;
  /** Stores a new version, with the next number. Throws Conflict for a prompt of the file, and InvalidInput. */
  add(draft: PromptDraft, by: Authored): Promise<PromptVersion>;
  /** Changes a stored version. Null for an unknown id. Throws InvalidInput. */
  change(id: string, patch: PromptPatch, by: Authored): Promise<PromptVersion | null>;
  /** Removes all versions of a prompt. Returns those that existed. */
  remove(promptId: string): Promise<readonly PromptVersion[]>;
  /** Replaces the prompts of the configuration file. */
  configure(prompts: readonly PromptVersion[]): void;
  /** Reads the stored rows again, because other processes may have changed them. */
  refresh(): Promise<void>;
}

/** The prompt that a call uses. */
export interface PromptUse {
  readonly id: string;
  /** Null: the latest version. */
  readonly version: number | null;
  readonly variables: ReadonlyMap<string, unknown>;
}

const DEFAULT_ENVIRONMENT = 'development';
const DOTPROMPT = 'dotprompt';

/** Maximum number of characters of an id and of an environment. */
const MAX_CHARACTERS = 256;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;
const VERSION_SUFFIX = /\.v(\d{1,9})$/;

export const versionId = (promptId: string, version: number): string => `${promptId}.v${version}`;

/** The prompt and the version that an id names, such as `greeting.v2`. */
export function namedVersion(id: string): { readonly promptId: string; readonly version: number | null } {
  const match = VERSION_SUFFIX.exec(id);
  return match === null
    ? { promptId: id, version: null }
    : { promptId: id.slice(0, match.index), version: Number(match[1]) };
}

/** Throws InvalidInput for an id that rows and paths cannot contain, and for an id with a version. */
export function assertPromptId(id: string): void {
  if (id.trim() === '' || id.length > MAX_CHARACTERS || CONTROL_OR_UNPAIRED_SURROGATE.test(id) || id.includes('/'))
    throw new InvalidInput(
      `prompt_id must have 1 to ${MAX_CHARACTERS} characters, no slash, no control character and no unpaired surrogate`,
    );
  if (VERSION_SUFFIX.test(id))
    throw new InvalidInput('prompt_id must not end with a version: the server numbers the versions');
}

/** `environment` of `prompt_info`, or its default. Throws InvalidInput. */
export function environmentOf(info: JsonObject | null): string {
  const environment = info?.['environment'] ?? DEFAULT_ENVIRONMENT;
  const isText = typeof environment === 'string' && environment !== '' && environment.length <= MAX_CHARACTERS;
  if (!isText || CONTROL_OR_UNPAIRED_SURROGATE.test(environment))
    throw new InvalidInput(
      `prompt_info.environment must be a text of 1 to ${MAX_CHARACTERS} characters, without control characters and unpaired surrogates`,
    );
  return environment;
}

/**
 * The template in `litellm_params`. Throws InvalidInput for parameters without a template, and for unsupported ones.
 */
export function templateIn(params: JsonObject, promptId: string): string {
  const integration = params['prompt_integration'];
  if (integration !== DOTPROMPT)
    throw new InvalidInput(`prompt_integration must be ${DOTPROMPT}: prompts of other services are not read`);
  const unsupported = ['api_base', 'api_key', 'prompt_directory', 'prompt_file'].find(
    (name) => (params[name] ?? null) !== null,
  );
  if (unsupported !== undefined)
    throw new InvalidInput(`litellm_params.${unsupported} is not supported: send the template as dotprompt_content`);
  const content = params['dotprompt_content'] ?? contentInData(params['prompt_data'], promptId);
  if (typeof content !== 'string') throw new InvalidInput('litellm_params.dotprompt_content is required: a text');
  return content;
}

/** The template in `prompt_data`: `{content}`, or `{<id>: {content}}`. Undefined for data in another format. */
function contentInData(data: unknown, promptId: string): unknown {
  if (!isJsonObject(data)) return undefined;
  // An id such as `constructor` must not find an inherited member.
  const ofPrompt = (Object.hasOwn(data, promptId) ? data[promptId] : null) ?? data;
  return isJsonObject(ofPrompt) ? ofPrompt['content'] : undefined;
}

export const promptNotFound = (id: string): NotFound => new NotFound('prompt', id, `Prompt with ID ${id} not found`);

/** Error for a prompt that does not exist, or that the caller may not use. */
export function unknownPrompt(id: string): InvalidInput {
  return new InvalidInput(`Prompt ${id.slice(0, MAX_CHARACTERS)} not found`);
}

/** The latest version of each prompt. */
export const latestVersions = (all: readonly PromptVersion[]): readonly PromptVersion[] =>
  [...Map.groupBy(all, ({ promptId }) => promptId).values()].flatMap((versions) => {
    const latest = versions.toSorted((left, right) => right.version - left.version)[0];
    return latest === undefined ? [] : [latest];
  });

/** The given version of a prompt; for null, its latest version. Undefined when it does not exist. */
export function versionOf(
  all: readonly PromptVersion[],
  { promptId, version }: { readonly promptId: string; readonly version: number | null },
): PromptVersion | undefined {
  const versions = all.filter((candidate) => candidate.promptId === promptId);
  return version === null ? latestVersions(versions)[0] : versions.find((candidate) => candidate.version === version);
}

/** Ids of the prompts that a key may use (`metadata.prompts`); null for all. */
export function allowedPromptsOf({ key }: Pick<Caller, 'key'>): readonly string[] | null {
  const listed = key?.metadata['prompts'] ?? null;
  return Array.isArray(listed) ? listed.filter((id): id is string => typeof id === 'string') : null;
}

export const mayUsePrompt = (caller: Pick<Caller, 'key'>, promptId: string): boolean =>
  allowedPromptsOf(caller)?.includes(promptId) !== false;
