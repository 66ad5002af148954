import { expect, it } from 'vitest';
import type { Provider, Deployment } from '../../../src/domain/chat/provider.ts';
import { InvalidInput } from '../../../src/domain/errors.ts';
import { createRouter } from '../../../src/gateway/routing/route.ts';
import { aDeployment } from '../../support/chat.ts';

const provider = (name: string): Provider => ({ name, send: () => Promise.reject(new Error('not called')) });
const OPENAI = provider('openai');
const DEMO = provider('demo');

const aRouter = (...deployments: readonly Partial<Deployment>[]) =>
  createRouter(
    deployments.map((overrides) => aDeployment(overrides)),
    [OPENAI, DEMO],
  );

it('calls of one model name alternate between its deployments', () => {
  const find = aRouter({ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'other', modelGroup: 'n' });
  expect(Array.from({ length: 5 }, () => find('m')?.deployment.id)).toEqual(['a', 'b', 'c', 'a', 'b']);
  expect(find('n')?.deployment.id).toBe('other');
});

it('an unknown name has no route', () => {
  expect(aRouter({})('nothing')).toBeNull();
  expect(aRouter()('m')).toBeNull();
});

it('exact names precede wildcards, and longer wildcards precede shorter ones', () => {
  const find = aRouter(
    { id: 'all', modelGroup: '*', upstreamModel: '*' },
    { id: 'openai', modelGroup: 'openai/*', upstreamModel: '*' },
    { id: 'exact', modelGroup: 'openai/gpt-4o' },
    { id: 'fixed', modelGroup: 'fixed/*', upstreamModel: 'always' },
  );
  const found = (model: string) => {
    const deployment = find(model)?.deployment;
    return [deployment?.id, deployment?.upstreamModel];
  };
  expect(found('openai/gpt-4o')).toEqual(['exact', 'up-1']);
  expect(found('openai/o9')).toEqual(['openai', 'o9']);
  // `$&` and `$'` have a meaning in the replacement texts of JavaScript.
  expect(found("openai/$&$'")).toEqual(['openai', "$&$'"]);
  expect(found('fixed/x')).toEqual(['fixed', 'always']);
  expect(found('anything')).toEqual(['all', 'anything']);
});

it('a deployment uses its named provider; an unknown provider with an address uses chat completions', () => {
  const find = aRouter(
    { modelGroup: 'd', provider: 'demo' },
    { modelGroup: 'g', provider: 'groq', apiBase: 'http://127.0.0.1:1/v1' },
  );
  expect(find('d')?.provider).toBe(DEMO);
  expect(find('g')?.provider).toBe(OPENAI);
  expect(find('g')?.deployment.provider).toBe('groq');
});

it('an unknown provider without an address is a configuration error', () => {
  expect(() => aRouter({ modelGroup: 'g', provider: 'groq' })).toThrow(
    new InvalidInput(
      'The model "g" names the provider "groq", which is not known. Set its api_base if it accepts chat completions.',
    ),
  );
});

it('a request about a stored object goes to the deployment of the object or another deployment of its account, else it is refused', () => {
  const find = aRouter(
    { id: 'a' },
    { id: 'b' },
    { id: 'wild', modelGroup: 'w/*', upstreamModel: '*' },
    { id: 'far', modelGroup: 'f', apiBase: 'http://127.0.0.1:1/v1' },
  );
  expect(
    [find('m', 'b'), find('m', 'b'), find('m', 'wild'), find('w/x', 'a')].map((found) => found?.deployment.id),
  ).toEqual(['b', 'b', 'a', 'wild']);
  const refused = 'The object that this request refers to is stored at another provider than that of the model "m".';
  for (const id of ['far', 'gone']) expect(() => find('m', id)).toThrow(refused);
});
