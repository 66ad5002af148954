import { Conflict, InvalidInput, NotFound } from '../errors.ts';
import type { JsonObject } from '../json-object.ts';
import { type Authored, newStamps, type RowStore, type Stamps } from '../row-store.ts';
import { withKeptSecrets } from '../settings/redaction.ts';
import { hasUnstorableCharacter } from '../unstorable-json.ts';

/** An account at a provider of web searches. Requests select the account by its name. */
export interface SearchTool {
  readonly id: string;
  /** Name in requests. Tools of the configuration file may have the same name: searches are distributed over them. */
  readonly name: string;
  /** `search_provider`, `api_key`, `api_base`, `timeout`, `input_cost_per_query`. Contains secrets. */
  readonly params: JsonObject;
  /** Free-form information; null when none is set. */
  readonly info: JsonObject | null;
  /** Whether the tool is in the configuration file. If so, the members below are null, and run-time changes fail. */
  readonly isFromConfig: boolean;
  readonly createdAt: Date | null;
  readonly updatedAt: Date | null;
}

/** A row of the database. */
export interface StoredSearchTool extends Stamps, Pick<SearchTool, 'id' | 'name' | 'info'> {
  /** Params as encrypted JSON, Base64. */
  readonly sealed: string;
}

export type SearchToolStore = RowStore<StoredSearchTool, null>;

/** A row of the database with decrypted params. */
export type OpenSearchTool = Omit<StoredSearchTool, 'sealed'> & Pick<SearchTool, 'params'>;

/** A tool to store. */
export type SearchToolDraft = Pick<SearchTool, 'id' | 'name' | 'params' | 'info'>;

/** Changes to a stored tool. An absent member is unchanged. A redacted secret in `params` keeps its stored value. */
export type SearchToolPatch = Partial<Pick<SearchTool, 'name' | 'params' | 'info'>>;

/** Search tools of the configuration file and of the database. */
export interface SearchTools {
  /** All tools, those of the file first. References to environment variables in params are not resolved. */
  list(): readonly SearchTool[];
  /**
   * The tools with a name, in the order in which a search tries them; empty for an unknown name. Each call of `named`
   * begins with another tool (round robin). References to environment variables in params are resolved.
   */
  named(name: string): readonly SearchTool[];
  /** Params with the values of the environment variables to which they refer. */
  resolved(params: JsonObject): JsonObject;
  /** Reason why the account of a tool cannot be used, such as a missing variable; null for a usable account. */
  accountFault(id: string): string | null;
  /** Stores a tool. Throws Conflict for an existing name, and InvalidInput. */
  add(draft: SearchToolDraft, by: Authored): Promise<SearchTool>;
  /** Changes a stored tool. Null for an unknown id. Throws Conflict for an existing name, and InvalidInput. */
  change(id: string, patch: SearchToolPatch, by: Authored): Promise<SearchTool | null>;
  /** Removes a stored tool. Null for an unknown id. */
  remove(id: string): Promise<SearchTool | null>;
  /** Replaces the tools of the configuration file. */
  configure(tools: readonly SearchTool[]): void;
  /** Reads the stored rows again, because other processes may have changed them. */
  refresh(): Promise<void>;
}

export const unknownTool = (id: string): NotFound =>
  new NotFound('search tool', id, `Search tool with ID ${id} not found`);

export const toolExists = (name: string): Conflict => new Conflict(`Search tool with name ${name} already exists`);

export const toolOfFile = (name: string): Conflict =>
  new Conflict(`The search tool ${name} is in the configuration file. Change it there.`);

/** The provider of a tool; empty for params without one. */
export const providerOf = ({ params }: Pick<SearchTool, 'params'>): string => {
  const provider = params['search_provider'];
  return typeof provider === 'string' ? provider : '';
};

/** `description` in the information about a tool; null for none. */
export function descriptionOf({ info }: Pick<SearchTool, 'info'>): string | null {
  const description = info?.['description'];
  return typeof description === 'string' ? description : null;
}

const MAX_NAME_CHARACTERS = 256;
const CONTROL_OR_UNPAIRED_SURROGATE = /[\p{Cc}\p{Cs}]/u;

/** Returns the tool unchanged. Throws InvalidInput for a tool that cannot be stored. */
function validated(tool: OpenSearchTool): OpenSearchTool {
  const { name, info, params } = tool;
  if (name.trim() === '') throw new InvalidInput('search_tool_name must not be empty');
  if (name.length > MAX_NAME_CHARACTERS || CONTROL_OR_UNPAIRED_SURROGATE.test(name))
    throw new InvalidInput(
      `search_tool_name must have at most ${MAX_NAME_CHARACTERS} characters, no control character and no unpaired surrogate`,
    );
  if (providerOf(tool).trim() === '') throw new InvalidInput('litellm_params.search_provider is required');
  if (hasUnstorableCharacter(JSON.stringify(info)))
    throw new InvalidInput('search_tool_info must have no NUL character and no unpaired surrogate');
  for (const member of ['api_key', 'api_base']) {
    const value = params[member] ?? null;
    if (value !== null && typeof value !== 'string')
      throw new InvalidInput(`litellm_params.${member} must be a string`);
  }
  return tool;
}

/** A tool to store, with its author and time. Throws InvalidInput. */
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
