import { firstValue } from './conventions/convention.ts';
import { type Attributes, type RawSpan, SOURCE_TYPES, type TraceSource } from './span.ts';
import { truncateText } from './truncate.ts';

const INTEGRATION_KEYS = ['langsmith.metadata.ls_integration', 'traceloop.association.properties.ls_integration'];

/** Frameworks of instrumentation scopes that `INSTRUMENTATION` does not match, by prefix of their names. */
const SCOPES: readonly (readonly [beginning: string, framework: string])[] = [
  ['com.anthropic.claude_code.', 'claude-code'],
  ['strands.', 'strands'],
  ['hermes', 'hermes'],
  ['gcp.vertex.agent', 'google-adk'],
  ['pydantic-ai', 'pydantic-ai'],
];
const EXACT_SCOPES: Readonly<Record<string, string>> = { gen_ai: 'vercel-ai-sdk', ai: 'vercel-ai-sdk' };
/** Scope names of instrumentations. The captured part is the name of the library, with an optional version. */
const INSTRUMENTATION =
  /^(?:openinference\.instrumentation\.|@arizeai\/openinference-instrumentation-|opentelemetry\.instrumentation\.|@opentelemetry\/instrumentation-|@traceloop\/instrumentation-)([\w-]+)/;
const HTTP_CLIENTS = new Set(['http', 'undici', 'fetch', 'requests', 'httpx', 'urllib', 'urllib3', 'aiohttp-client']);

/** Frameworks by scope object, which many spans share. */
const byScope = new WeakMap<RawSpan['instrumentationScope'], string>();

/**
 * Framework of a span: the integration that it names, else the library of its instrumentation scope. Empty when
 * unknown.
 */
export function frameworkOf({ attributes, instrumentationScope }: RawSpan): string {
  const named = firstValue(attributes, INTEGRATION_KEYS);
  if (named !== null) return named;
  const known = byScope.get(instrumentationScope);
  if (known !== undefined) return known;
  const framework = frameworkOfScope(instrumentationScope.name);
  byScope.set(instrumentationScope, framework);
  return framework;
}

function frameworkOfScope(name: string): string {
  if (Object.hasOwn(EXACT_SCOPES, name)) return EXACT_SCOPES[name] ?? '';
  const known = SCOPES.find(([beginning]) => name.startsWith(beginning));
  if (known !== undefined) return known[1];
  const library = INSTRUMENTATION.exec(name)?.[1]?.replaceAll('_', '-') ?? '';
  return HTTP_CLIENTS.has(library) ? 'http' : library.replace(/-v\d+$/, '');
}

const PREFIX = 'litellm.source.';
/** Maximum length of the URL of a source, in characters, and of its title and user, in bytes. */
const MAX_SOURCE_BYTES = 2_048;

/**
 * Source of an agent run, from the attributes of its root span, else of the resource. Null for other spans, for a
 * missing or unknown type, and for an address that is invalid, too long or not `https`.
 */
export function traceSourceOf({ parentSpanId, attributes, resource }: RawSpan): TraceSource | null {
  if (parentSpanId !== null) return null;
  return sourceIn(attributes) ?? sourceIn(resource.attributes);
}

function sourceIn(attributes: Attributes): TraceSource | null {
  if (attributes[`${PREFIX}type`] === undefined) return null;
  const textOf = (name: string): string | null => firstValue(attributes, [`${PREFIX}${name}`]);
  const declared = textOf('type');
  const type = SOURCE_TYPES.find((known) => known === declared);
  const url = textOf('url') ?? '';
  if (type === undefined || url.length > MAX_SOURCE_BYTES || !isHttps(url)) return null;
  const title = truncateText(textOf('title') ?? '', MAX_SOURCE_BYTES);
  const user = textOf('user');
  return { type, url, title, user: user === null ? null : truncateText(user, MAX_SOURCE_BYTES) };
}

const isHttps = (url: string): boolean => URL.canParse(url) && new URL(url).protocol === 'https:';
