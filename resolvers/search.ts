import { NotFound, Unavailable, UpstreamFailed } from '../src/domain/errors.ts';
import { mayUseTool, forbiddenTool } from '../src/domain/search-tools/search-rights.ts';
import type { SearchTool } from '../src/domain/search-tools/search-tool.ts';
import { readSearch, type SentSearch, toolNameOf } from '../src/domain/search-tools/search.ts';
import { callerOf, operation } from './operation/operation.ts';
import type { Scope } from './operation/scope.ts';
import { searcher } from './operation/search-access.ts';
import { type FoundResults, type SearchFacts, searchWith } from './operation/search-calls.ts';
import type { SearchPlatform } from './operation/search-platform.ts';

type SearchScope = Scope<SearchPlatform>;

/** A search as the request sent it, and facts of the request. */
export interface SearchCall extends SentSearch {
  readonly facts: SearchFacts;
}

/** Tools with this name that the caller may use, in the order of the attempts. Throws NotFound and Forbidden. */
function toolsOf(scope: SearchScope, name: string): readonly SearchTool[] {
  const tools = scope.platform.searchTools.named(name);
  if (tools.length === 0) throw new NotFound('search tool', name, `Search tool '${name}' not found`);
  const allowed = tools.filter((one) => mayUseTool(callerOf(scope), one));
  if (allowed.length === 0) throw forbiddenTool(name);
  return allowed;
}

const UNAUTHORIZED = 401;
const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_ERROR = 500;

/**
 * Whether the next tool is tried. It is tried when this tool has no account, or its provider did not answer. It is also
 * tried when the provider refused the key, or answered with a rate limit or a server error.
 */
function mayFallBack(failure: unknown): boolean {
  if (failure instanceof Unavailable) return true;
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status } = failure;
  return status === null || status === UNAUTHORIZED || status === TOO_MANY_REQUESTS || status >= FIRST_SERVER_ERROR;
}

/**
 * Searches the web with the tools of a name. The tools take turns as the first tool of a call. The other tools are
 * tried one after another while `mayFallBack` allows it. Throws InvalidInput, NotFound and Forbidden, and what
 * `searchWith` throws with the last tool.
 */
export const searchWeb = operation({
  name: 'searchWeb',
  access: searcher,
  async run(scope: SearchScope, { facts, ...sent }: SearchCall): Promise<FoundResults> {
    const name = toolNameOf(sent);
    const search = readSearch(sent.fields);
    const tools = toolsOf(scope, name);
    for (const [index, tool] of tools.entries()) {
      try {
        // Each attempt is one recorded call. The call id of the request is that of the first attempt.
        const attemptFacts = index === 0 ? facts : { ...facts, callId: null };
        return await searchWith(scope, tool, { search, facts: attemptFacts });
      } catch (failure) {
        scope.signal.throwIfAborted();
        if (index === tools.length - 1 || !mayFallBack(failure)) throw failure;
      }
    }
    throw new TypeError('toolsOf returned no search tool.');
  },
});

/** Lists the search tools that the caller may use, one tool for each name. */
export const listUsableSearchTools = operation({
  name: 'listUsableSearchTools',
  access: searcher,
  run(scope: SearchScope, _input: undefined): readonly SearchTool[] {
    const caller = callerOf(scope);
    const byName = new Map<string, SearchTool>();
    for (const tool of scope.platform.searchTools.list())
      if (mayUseTool(caller, tool) && !byName.has(tool.name)) byName.set(tool.name, tool);
    return [...byName.values()];
  },
});
