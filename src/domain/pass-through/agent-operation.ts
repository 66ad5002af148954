/** Operations of the coding agents' API, by method and path. `*` stands for one segment. */
const OPERATIONS: readonly (readonly [method: string, path: string, name: string])[] = [
  ['POST', 'v0/agents', 'cursor:agent:create'],
  ['GET', 'v0/agents', 'cursor:agent:list'],
  ['GET', 'v0/agents/*', 'cursor:agent:status'],
  ['DELETE', 'v0/agents/*', 'cursor:agent:delete'],
  ['GET', 'v0/agents/*/conversation', 'cursor:agent:conversation'],
  ['POST', 'v0/agents/*/followup', 'cursor:agent:followup'],
  ['POST', 'v0/agents/*/stop', 'cursor:agent:stop'],
  ['GET', 'v0/me', 'cursor:account:info'],
  ['GET', 'v0/models', 'cursor:models:list'],
  ['GET', 'v0/repositories', 'cursor:repositories:list'],
];

/** Maximum length of a name that is made from a path, in characters. */
const NAME_LIMIT = 200;

/** The operation of a call, by its path without the prefix. A slash at the end is ignored. */
export function agentOperation(method: string, subpath: string): string {
  const path = subpath.replace(/\/+$/, '');
  const segments = path.split('/');
  const known = OPERATIONS.find(([verb, pattern]) => verb === method && matches(pattern.split('/'), segments));
  return known?.[2] ?? `cursor:${method.toLowerCase()}:/${path}`.slice(0, NAME_LIMIT);
}

const matches = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, at) => (part === '*' ? segments[at] !== '' : part === segments[at]));
