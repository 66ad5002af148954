import { DomainError } from '../src/domain/errors.ts';
import type { JsonObject } from '../src/domain/json-object.ts';
import {
  type SearchTool,
  type SearchToolDraft,
  type SearchToolPatch,
  unknownTool,
} from '../src/domain/search-tools/search-tool.ts';
import { readSearch, type SearchVendor } from '../src/domain/search-tools/search.ts';
import { system } from './operation/access.ts';
import { authored } from './operation/authored.ts';
import { operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { searchToolAdmin, searchToolViewer } from './operation/search-access.ts';
import { searchWith, UNSTORED_ID } from './operation/search-calls.ts';
import type { SearchPlatform } from './operation/search-platform.ts';

type SearchScope = Scope<SearchPlatform>;

/** Lists the search tools: those of the configuration file, then the stored tools. */
export const listSearchTools = operation({
  name: 'listSearchTools',
  access: searchToolViewer,
  run: (scope: SearchScope, _input: undefined): readonly SearchTool[] => scope.platform.searchTools.list(),
});

/** Reads one search tool by its id. Throws NotFound. */
export const getSearchTool = operation({
  name: 'getSearchTool',
  access: searchToolViewer,
  run({ platform }: SearchScope, { id }: { readonly id: string }): SearchTool {
    const tool = platform.searchTools.list().find((one) => one.id === id);
    if (tool === undefined) throw unknownTool(id);
    return tool;
  },
});

/** Stores a search tool. Throws Conflict when the name is taken, and InvalidInput. */
export const createSearchTool = operation({
  name: 'createSearchTool',
  access: searchToolAdmin,
  run: (scope: SearchScope, draft: Omit<SearchToolDraft, 'id'>): Promise<SearchTool> =>
    scope.platform.searchTools.add({ ...draft, id: scope.platform.ids.uuid() }, authored(scope)),
});

/**
 * Changes a stored search tool. Throws NotFound, InvalidInput, and Conflict for a tool of the configuration file, a
 * taken name, or redacted secrets whose stored values cannot be decrypted.
 */
export const updateSearchTool = operation({
  name: 'updateSearchTool',
  access: searchToolAdmin,
  async run(
    scope: SearchScope,
    { id, patch }: { readonly id: string; readonly patch: SearchToolPatch },
  ): Promise<SearchTool> {
    const changed = await scope.platform.searchTools.change(id, patch, authored(scope));
    if (changed === null) throw unknownTool(id);
    return changed;
  },
});

/** Removes a stored search tool. Throws NotFound, and Conflict for a tool of the configuration file. */
export const deleteSearchTool = operation({
  name: 'deleteSearchTool',
  access: searchToolAdmin,
  async run(scope: SearchScope, { id }: { readonly id: string }): Promise<SearchTool> {
    const removed = await scope.platform.searchTools.remove(id);
    if (removed === null) throw unknownTool(id);
    return removed;
  },
});

/** Lists the supported providers of searches. */
export const listSearchProviders = operation({
  name: 'listSearchProviders',
  access: searchToolViewer,
  run: ({ platform }: SearchScope, _input: undefined): readonly SearchVendor[] => platform.searchVendors.all,
});

/** Result of a test: the number of results, or the message and the error class of the failure. */
export type SearchTest =
  | { readonly query: string; readonly results: number }
  | { readonly failure: string; readonly kind: string };

const TEST_QUERY = 'test';

/**
 * Sends a test search with the params of a tool, which need not be stored. Returns a failure of the search instead of
 * throwing it. The search is charged and recorded.
 */
export const testSearchTool = operation({
  name: 'testSearchTool',
  access: searchToolAdmin,
  async run(scope: SearchScope, { params }: { readonly params: JsonObject }): Promise<SearchTest> {
    const resolved = scope.platform.searchTools.resolved(params);
    const tool: SearchTool = { ...UNSTORED, params: resolved };
    const search = readSearch({ query: TEST_QUERY, max_results: 1 });
    try {
      const { results } = await searchWith(scope, tool, { search, facts: { callId: null, parent: null } });
      return { query: TEST_QUERY, results: results.length };
    } catch (failure) {
      scope.signal.throwIfAborted();
      if (!(failure instanceof DomainError)) throw failure;
      return { failure: failure.message, kind: failure.name };
    }
  },
});

const UNSTORED = {
  id: UNSTORED_ID,
  name: 'test',
  info: null,
  isFromConfig: false,
  createdAt: null,
  updatedAt: null,
} as const;

/** Applies changes of search tools by other processes. */
export const refreshSearchTools = operation({
  name: 'refreshSearchTools',
  access: system,
  run: ({ platform }: SearchScope): Promise<void> => platform.searchTools.refresh(),
});
