import { z } from 'zod';
import { isJsonObject } from '../../domain/json-object.ts';
import { type PassThroughEndpoint, targetFault } from '../../domain/pass-through/endpoint.ts';
import { headersFault } from '../../domain/pass-through/headers.ts';
import { Secret } from '../../domain/secret.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';
import { faultAt, headersWithVariables, isKnownFault, pathOfIssue, stableId } from './section-entries.ts';

/** Section of the file that contains the list of pass-through endpoints. */
const SECTION = 'general_settings';
const LIST = 'pass_through_endpoints';
const MAX_SECONDS = 86_400;

/** Value of a header or query parameter; YAML reads digits as numbers. */
const headerValue = z.union([z.string(), z.number(), z.boolean()]).transform(String);

const entry = z.looseObject({
  path: z.string().regex(/^[^\s?#]+$/, 'must be a path without blanks and query'),
  target: z.string(),
  headers: z.record(z.string(), headerValue).nullish(),
  default_query_params: z.record(z.string(), headerValue).nullish(),
  include_subpath: z.boolean().nullish(),
  cost_per_request: z.number().nullish(),
  timeout: z.number().positive().max(MAX_SECONDS).nullish(),
  auth: z.boolean().nullish(),
  guardrails: z.record(z.string(), z.unknown()).nullish(),
  methods: z.array(z.string()).nullish(),
  forward_headers: z.boolean().nullish(),
});

type Entry = z.infer<typeof entry>;

/** The entries of `pass_through_endpoints`; empty when an entry has a wrong form. `fault` receives each fault. */
export function readPassThrough(
  document: ConfigDocument,
  { env, fault }: { readonly env: NodeJS.ProcessEnv; readonly fault: (fault: ConfigFault) => void },
): readonly PassThroughEndpoint[] {
  const refuse = (path: Path, message: string): void => {
    const found = faultAt(document, [SECTION, LIST, ...path], message);
    if (!isKnownFault(document, found)) fault(found);
  };
  const section = document.content[SECTION];
  const list = isJsonObject(section) ? section[LIST] : undefined;
  const parsed = z.array(entry).nullish().safeParse(list);
  if (!parsed.success) {
    for (const issue of parsed.error.issues) refuse(pathOfIssue(issue), issue.message);
    return [];
  }
  return (parsed.data ?? []).map((one, index) => {
    const headers = headersWithVariables(one.headers ?? {}, env, (name, variable) =>
      refuse([index, 'headers', name], `the environment variable ${variable} it refers to is not set`),
    );
    const wrongTarget = targetFault(one.target);
    if (wrongTarget !== null) refuse([index, 'target'], wrongTarget);
    const wrongHeaders = headersFault(headers);
    if (wrongHeaders !== null) refuse([index, 'headers'], wrongHeaders);
    return endpointOf(one, headers);
  });
}

function endpointOf(one: Entry, headers: Readonly<Record<string, string>>): PassThroughEndpoint {
  const methods = one.methods?.map((method) => method.toUpperCase()) ?? null;
  return {
    id: stableId([one.path, methods, one.target]),
    path: one.path,
    target: one.target,
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, new Secret(value)])),
    defaultQuery: one.default_query_params ?? {},
    includeSubpath: one.include_subpath ?? false,
    costPerRequest: one.cost_per_request ?? 0,
    timeoutSeconds: one.timeout ?? null,
    auth: one.auth ?? true,
    guardrails: one.guardrails ?? null,
    methods,
    forwardHeaders: one.forward_headers ?? false,
    isFromConfig: true,
  };
}
