import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject } from '../../domain/json-object.ts';
import { rateFrom } from '../../domain/money.ts';
import { targetFault } from '../../domain/pass-through/endpoint.ts';
import { SEARCH_PROVIDERS } from '../../domain/search-tools/search.ts';
import type { SearchTool } from '../../domain/search-tools/search-tool.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import { unknownMember } from './nearest-name.ts';

/** Section of the search tools in the file. */
const SECTION = 'search_tools';

const text = z.string().min(1);

/** One search tool of the file. */
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

interface SearchToolReading {
  /** A wrong value, which stops the start. */
  readonly fault: (fault: ConfigFault) => void;
  /** A value without an effect, which stops the start only where the configuration is strict. */
  readonly faultIfStrict: (fault: ConfigFault) => void;
}

/** The search tools of the file; empty when one has a wrong form. `fault` receives each wrong value. */
export function readSearchTools(
  document: ConfigDocument,
  { fault, faultIfStrict }: SearchToolReading,
): readonly SearchTool[] {
  const at = (path: readonly (string | number)[], message: string): ConfigFault => {
    const place = [SECTION, ...path];
    return { ...document.placeOf(place), key: place.join('.'), message };
  };
  const section = document.content[SECTION];
  const isOff = section === undefined || section === null || section === false || section === '';
  const parsed = z.array(searchToolEntry).safeParse(isOff ? [] : section);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues) {
      const one = at(
        path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
        message,
      );
      // A reference to an unset variable is reported already.
      if (!document.faults.some(({ key }) => key === one.key)) fault(one);
    }
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

/** A tool of the file. Its params are as written: references stay unresolved, so that no list shows a variable. */
function toolOf(entry: Entry, declared: Entry, index: number): SearchTool {
  const { search_tool_name: name, search_tool_info: info, litellm_params: params } = entry;
  return {
    id: idOf(name, index),
    name,
    params: isJsonObject(declared.litellm_params) ? declared.litellm_params : params,
    info: info ?? null,
    isFromConfig: true,
    createdAt: null,
    updatedAt: null,
  };
}

/** Stable id, equal in every start and every process. Several entries may have one name. */
const idOf = (name: string, index: number): string =>
  createHash('sha256')
    .update(JSON.stringify(['search tool', name, index]))
    .digest('hex')
    .slice(0, 32);
