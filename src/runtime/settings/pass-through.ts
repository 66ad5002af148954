import { createHash } from 'node:crypto';
import { z } from 'zod';
import { isJsonObject } from '../../domain/json-object.ts';
import { type PassThroughEndpoint, targetFault } from '../../domain/pass-through/endpoint.ts';
import { headersFault } from '../../domain/pass-through/headers.ts';
import { Secret } from '../../domain/secret.ts';
import type { ConfigDocument } from './config-document.ts';
import type { ConfigFault } from './config-fault.ts';
import type { Path } from './config-references.ts';

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

/** A name of a variable inside a longer text, as in `bearer os.environ/KEY`. */
const REFERENCE = /os\.environ\/([A-Za-z_]\w*)/g;

/** The entries of `pass_through_endpoints`; empty when an entry has a wrong form. `fault` receives each fault. */
export function readPassThrough(
  document: ConfigDocument,
  { env, fault }: { readonly env: NodeJS.ProcessEnv; readonly fault: (fault: ConfigFault) => void },
): readonly PassThroughEndpoint[] {
  const refuse = (path: Path, message: string): void => {
    const place = [SECTION, LIST, ...path];
    const key = place.join('.');
    // A reference to an unset variable is reported already.
    if (!document.faults.some((known) => known.key === key)) fault({ ...document.placeOf(place), key, message });
  };
  const section = document.content[SECTION];
  const list = isJsonObject(section) ? section[LIST] : undefined;
  const parsed = z.array(entry).nullish().safeParse(list);
  if (!parsed.success) {
    for (const { path, message } of parsed.error.issues)
      refuse(
        path.map((part) => (typeof part === 'symbol' ? part.toString() : part)),
        message,
      );
    return [];
  }
  return (parsed.data ?? []).map((one, index) => {
    const headers = headersOf(one, env, (name, variable) =>
      refuse([index, 'headers', name], `the environment variable ${variable} it refers to is not set`),
    );
    const wrongTarget = targetFault(one.target);
    if (wrongTarget !== null) refuse([index, 'target'], wrongTarget);
    const wrongHeaders = headersFault(headers);
    if (wrongHeaders !== null) refuse([index, 'headers'], wrongHeaders);
    return endpointOf(one, headers);
  });
}

/** The headers of an entry, with the values of the variables that they refer to. */
function headersOf(
  { headers }: Entry,
  env: NodeJS.ProcessEnv,
  unset: (name: string, variable: string) => void,
): Readonly<Record<string, string>> {
  const resolved = Object.entries(headers ?? {}).map(([name, value]): [string, string] => {
    const text = value.replaceAll(REFERENCE, (_all, variable: string) => {
      if (!env[variable]) unset(name, variable);
      return env[variable] ?? '';
    });
    return [name, text];
  });
  return Object.fromEntries(resolved);
}

function endpointOf(one: Entry, headers: Readonly<Record<string, string>>): PassThroughEndpoint {
  const methods = one.methods?.map((method) => method.toUpperCase()) ?? null;
  return {
    id: idOf(one.path, methods, one.target),
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

/** Stable id, equal in every start and every process. */
const idOf = (path: string, methods: readonly string[] | null, target: string): string =>
  createHash('sha256')
    .update(JSON.stringify([path, methods, target]))
    .digest('hex')
    .slice(0, 32);
