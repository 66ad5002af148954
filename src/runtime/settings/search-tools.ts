import { z } from 'zod';
import { isJsonObject } from '../../domain/json-object.ts';
import { rateFrom } from '../../domain/money.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import { SEARCH_PROVIDERS } from '../../domain/search-tools/search.ts';
import type { SearchTool } from '../../domain/search-tools/search-tool.ts';
import type { ConfigDocument } from './config-document.ts';
import type { Path } from './config-references.ts';
import { unknownMember } from './nearest-name.ts';
import { faultAt, type FaultReceivers, isKnownFault, isOff, pathOfIssue, stableId } from './section-entries.ts';

/** Section of the search tools in the file. */
const SECTION = 'search_tools';

const text = z.string().min(1);

/** Schema of a search tool of the file. */
export const searchToolEntry = z.looseObject({
  search_tool_name: text,
  litellm_params: z.looseObject({
    search_provider: text,
    api_key: text.nullish(),
    api_base: text.nullish(),
    timeout: z.number().positive().nullish(),
    input_cost_per_query: z.union([z.number().nonnegative(), z.string()]).nullish(),
  }),
  search_tool_info: z.record(z.string(), z.unknown()).nullish(),
});

type Entry = z.infer<typeof searchToolEntry>;

const MEMBERS = Object.keys(searchToolEntry.shape);

/** The search tools of the file; empty when the schema does not fit. `fault` is called for each wrong value. */
export function readSearchTools(
  document: ConfigDocument,
  { fault, faultIfStrict }: FaultReceivers,
): readonly SearchTool[] {
  const at = (path: Path, message: string) => faultAt(document, [SECTION, ...path], message);
  const section = document.content[SECTION];
  const parsed = z.array(searchToolEntry).safeParse(isOff(section) ? [] : section);
  if (!parsed.success) {
    const found = parsed.error.issues.map((issue) => at(pathOfIssue(issue), issue.message));
    for (const one of found) if (!isKnownFault(document, one)) fault(one);
    return [];
  }
  const declared = document.declared[SECTION];
  return parsed.data.map((entry, index) => {
    for (const name of Object.keys(entry))
      if (!MEMBERS.includes(name)) faultIfStrict(at([index, name], unknownMember(name, MEMBERS)));
    const { search_provider: provider, api_base: base, input_cost_per_query: price } = entry.litellm_params;
    if (!SEARCH_PROVIDERS.includes(provider))
      faultIfStrict(
        at([index, 'litellm_params', 'search_provider'], `is not served: supported are ${SEARCH_PROVIDERS.join(', ')}`),
      );
    const wrongBase = typeof base === 'string' ? targetFault(base) : null;
    if (wrongBase !== null) fault(at([index, 'litellm_params', 'api_base'], wrongBase));
    const hasWrongPrice = price !== undefined && price !== null && (rateFrom(price) ?? -1n) < 0n;
    if (hasWrongPrice) fault(at([index, 'litellm_params', 'input_cost_per_query'], 'must be a price in USD'));
    return toolOf(entry, Array.isArray(declared) ? (declared[index] as Entry) : entry, index);
  });
}

/**
 * A tool of the file. Its params are those that the file declares, with unresolved references: otherwise a list would
 * show the values of variables. The id has the index, because several tools may have the same name.
 */
function toolOf(entry: Entry, declared: Entry, index: number): SearchTool {
  const { search_tool_name: name, search_tool_info: info, litellm_params: params } = entry;
  return {
    id: stableId(['search tool', name, index]),
    name,
    params: isJsonObject(declared.litellm_params) ? declared.litellm_params : params,
    info: info ?? null,
    isFromConfig: true,
    createdAt: null,
    updatedAt: null,
  };
}
