import { Conflict, InvalidInput, NotFound } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { withKeptSecrets } from '../settings/redaction.ts';

/** A search tool: the account of a provider of web searches, which keys use by its name. */
export interface SearchTool {
  readonly id: string;
  /** Name in requests. Tools of the configuration file with one name share its searches. */
  readonly name: string;
  /** Settings with secrets: `search_provider`, `api_key`, `api_base`, `timeout`, `input_cost_per_query`. */
  readonly params: JsonObject;
  /** Free-form information; null when none is set. */
  readonly info: JsonObject | null;
  /** Whether the configuration file has it. Such a tool cannot be changed at run time. */
  readonly isFromConfig: boolean;
  /** Null for a tool of the configuration file. */
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

/** A tool as the database has it. Its params are encrypted. */
export interface StoredSearchTool extends Stamps, Pick<SearchTool, 'id' | 'name' | 'info'> {
  /** Params as encrypted JSON, Base64. */
  readonly sealed: string;
}

export type SearchToolStore = RowStore<StoredSearchTool, null>;

/** A stored row with its params decrypted. */
export type OpenSearchTool = Omit<StoredSearchTool, 'sealed'> & Pick<SearchTool, 'params'>;

/** A tool to store. */
export type SearchToolDraft = Pick<SearchTool, 'id' | 'name' | 'params' | 'info'>;

/** Changes to a stored tool. An absent member is unchanged. A redacted secret in `params` keeps its value. */
export type SearchToolPatch = Partial<Pick<SearchTool, 'name' | 'params' | 'info'>>;

/** Search tools: those of the configuration file, and the stored ones. */
export interface SearchTools {
  /** Tools as configured, those of the file first. References to variables in their params are not resolved. */
  list(): readonly SearchTool[];
  /**
   * Tools with a name, in the order in which they are tried: each call begins with the next one. Their params have the
   * values of the variables. Empty when no tool has the name.
   */
  named(name: string): readonly SearchTool[];
  /** The values of the variables that params refer to. */
  resolved(params: JsonObject): JsonObject;
  /** Why the account of a tool is unknown, so that it cannot be called; null when it can. */
  accountFault(id: string): string | null;
  /** Stores a tool. Throws Conflict when its name is taken, and InvalidInput. */
  add(draft: SearchToolDraft, by: Authored): Promise<SearchTool>;
  /** Changes a stored tool. Null when none has the id. Throws Conflict and InvalidInput. */
  change(id: string, patch: SearchToolPatch, by: Authored): Promise<SearchTool | null>;
  /** Removes a stored tool. Null when none has the id. */
  remove(id: string): Promise<SearchTool | null>;
  /** Replaces the tools of the configuration file. */
  configure(tools: readonly SearchTool[]): void;
  /** Reads the stored rows again, for changes by other processes. */
  refresh(): Promise<void>;
}

export const unknownTool = (id: string): NotFound =>
  new NotFound('search tool', id, `Search tool with ID ${id} not found`);

export const toolExists = (name: string): Conflict => new Conflict(`Search tool with name ${name} already exists`);

export const toolOfFile = (name: string): Conflict =>
  new Conflict(`The search tool ${name} is in the configuration file. Change it there.`);

/** The provider of a tool; empty when its params have none. */
export const providerOf = ({ params }: Pick<SearchTool, 'params'>): string => {
  const provider = params['search_provider'];
  return typeof provider === 'string' ? provider : '';
};

/** What a tool is for, from its information; null without a description. */
export function descriptionOf({ info }: Pick<SearchTool, 'info'>): string | null {
  const description = info?.['description'];
  return typeof description === 'string' ? description : null;
}

const MAX_NAME = 256;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;
const NUL_OR_UNPAIRED_SURROGATE = /\\u0000|\\ud[89a-f][0-9a-f]{2}/i;

/** Returns the tool if it can be stored. Throws InvalidInput. */
function validated(tool: OpenSearchTool): OpenSearchTool {
  const { name, info, params } = tool;
  if (name.trim() === '') throw new InvalidInput('search_tool_name must not be empty');
  if (name.length > MAX_NAME || CONTROL_OR_UNPAIRED_SURROGATE.test(name))
    throw new InvalidInput(
      `search_tool_name must have at most ${MAX_NAME} characters, no control character and no unpaired surrogate`,
    );
  if (providerOf(tool).trim() === '') throw new InvalidInput('litellm_params.search_provider is required');
  // JSON text has escapes for the characters that a database refuses.
  if (NUL_OR_UNPAIRED_SURROGATE.test(JSON.stringify(info)))
    throw new InvalidInput('search_tool_info must have no NUL character and no unpaired surrogate');
  for (const member of ['api_key', 'api_base']) {
    const value = params[member] ?? null;
    if (value !== null && typeof value !== 'string')
      throw new InvalidInput(`litellm_params.${member} must be a string`);
  }
  return tool;
}

/** A new stored tool. Throws InvalidInput. */
export const newSearchTool = (draft: SearchToolDraft, by: Authored): OpenSearchTool =>
  validated({ ...draft, ...newStamps(by) });

/** A stored tool with a patch applied. Throws InvalidInput. */
export const patchedSearchTool = (
  before: OpenSearchTool,
  { params, ...patch }: SearchToolPatch,
  { now, by }: Authored,
): OpenSearchTool =>
  validated({
    ...before,
    ...patch,
    params: params === undefined ? before.params : withKeptSecrets(params, before.params),
    updatedAt: now,
    updatedBy: by,
  });
