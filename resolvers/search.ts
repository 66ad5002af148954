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

/** A search, and the facts of its request. */
export interface SearchCall extends SentSearch {
  readonly facts: SearchFacts;
}

/** Tools with a name that the caller may use. Throws NotFound and Forbidden. */
function toolsOf(scope: SearchScope, name: string): readonly SearchTool[] {
  const tools = scope.platform.searchTools.named(name);
  if (tools.length === 0) throw new NotFound('search tool', name, `Search tool '${name}' not found`);
  const allowed = tools.filter((one) => mayUseTool(callerOf(scope), one));
  if (allowed.length === 0) throw forbiddenTool(name);
  return allowed;
}

const TOO_MANY_REQUESTS = 429;
const FIRST_SERVER_ERROR = 500;

/** Whether another tool may succeed: after a limit or an error of the provider, and without an answer or an account. */
function mayFallBack(failure: unknown): boolean {
  if (failure instanceof Unavailable) return true;
  if (!(failure instanceof UpstreamFailed)) return false;
  const { upstreamStatus: status } = failure;
  return status === null || status === TOO_MANY_REQUESTS || status >= FIRST_SERVER_ERROR || status === 401;
}

/**
 * Searches the web with the tools of a name. Each call begins with the next tool; after a failure of the provider the
 * others are tried. Throws InvalidInput, NotFound, Forbidden, Unavailable for a tool without an account,
 * UpstreamFailed, and what the gateway's `forward` throws.
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
        // A further attempt is a call of its own in the records.
        const own = index === 0 ? facts : { ...facts, callId: null };
        return await searchWith(scope, tool, { search, facts: own });
      } catch (failure) {
        scope.signal.throwIfAborted();
        if (index === tools.length - 1 || !mayFallBack(failure)) throw failure;
      }
    }
    throw new TypeError('A name has no search tool.');
  },
});

/** Search tools that the caller may use, one for each name. */
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
