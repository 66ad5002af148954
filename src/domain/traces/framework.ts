import { firstValue } from './conventions/convention.ts';
import type { RawSpan } from './span.ts';

const INTEGRATION_KEYS = ['langsmith.metadata.ls_integration', 'traceloop.association.properties.ls_integration'];

/** Instrumentation scopes that are named after something else than what they watch, by how they begin. */
const SCOPES: readonly (readonly [beginning: string, framework: string])[] = [
  ['com.anthropic.claude_code.', 'claude-code'],
  ['strands.', 'strands'],
  ['hermes', 'hermes'],
  ['gcp.vertex.agent', 'google-adk'],
  ['pydantic-ai', 'pydantic-ai'],
];
const EXACT_SCOPES: Readonly<Record<string, string>> = { gen_ai: 'vercel-ai-sdk', ai: 'vercel-ai-sdk' };
/** Instrumentations of one thing each: what follows is its name, a version perhaps behind it. */
const INSTRUMENTATION =
  /^(?:openinference\.instrumentation\.|@arizeai\/openinference-instrumentation-|opentelemetry\.instrumentation\.|@opentelemetry\/instrumentation-|@traceloop\/instrumentation-)([\w-]+)/;
const HTTP_CLIENTS = new Set(['http', 'undici', 'fetch', 'requests', 'httpx', 'urllib', 'urllib3', 'aiohttp-client']);

/**
 * What made a span: the integration it names, else what its instrumentation scope is for. Empty when neither tells.
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

/** One scope is that of many spans. */
const byScope = new WeakMap<RawSpan['instrumentationScope'], string>();

function frameworkOfScope(name: string): string {
  if (Object.hasOwn(EXACT_SCOPES, name)) return EXACT_SCOPES[name] ?? '';
  const known = SCOPES.find(([beginning]) => name.startsWith(beginning));
  if (known !== undefined) return known[1];
  const watched = INSTRUMENTATION.exec(name)?.[1]?.replaceAll('_', '-') ?? '';
  return HTTP_CLIENTS.has(watched) ? 'http' : watched.replace(/-v\d+$/, '');
}
