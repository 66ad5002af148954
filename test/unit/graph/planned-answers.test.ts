import { GraphQLObjectType, GraphQLSchema, GraphQLString, parse, validate } from 'graphql';
import { describe, expect, it } from 'vitest';
import type { Scope } from '../../../resolvers/operation/scope.ts';
import type { GraphContext } from '../../../schema/base/builder.ts';
import type { Engine } from '../../../src/graphql/engine.ts';
import { createPlannedAnswers } from '../../../src/graphql/plans/planned-answers.ts';
import type { Requester } from '../../../src/graphql/requester.ts';

const failing = new Set<string>();
const schema = new GraphQLSchema({
  query: new GraphQLObjectType<unknown, GraphContext>({
    name: 'Query',
    fields: {
      hello: {
        type: GraphQLString,
        resolve(_root, _args, { scope }) {
          if (failing.has(scope.caller?.keyHash ?? '')) throw new Error('This caller fails.');
          return 'world';
        },
      },
    },
  }),
});

/** An engine that identifies callers by the hash of their key. */
function plannedFor() {
  const engine = {
    schema,
    scopeOf(requester: unknown): Scope {
      return { caller: { keyHash: requester }, client: { network: '::1' } } as unknown as Scope;
    },
    pipelineFor: () => ({ schema, parse, validate }),
    isWithinLimits: () => true,
  };
  const planned = createPlannedAnswers(engine as unknown as Engine, { due: () => null });
  const body = new TextEncoder().encode('{"query":"{ hello }"}');
  const request = { method: 'POST', url: '/graphql', headers: { 'content-type': 'application/json' } };
  const ask = async (key: string): Promise<string | undefined> =>
    (await planned.answer(key as unknown as Requester, request, body))?.text;
  return { ask };
}

describe('a plan of a query', () => {
  it('is not used after a failure for 16 requests of the same caller, but for other callers', async () => {
    const { ask } = plannedFor();
    const answer = '{"data":{"hello":"world"}}';
    await ask('good');
    expect([await ask('good'), await ask('bad')]).toEqual([answer, answer]);
    failing.add('bad');
    expect(await ask('bad')).toBeUndefined();
    failing.delete('bad');
    for (let left = 16; left > 0; left -= 1) expect([await ask('bad'), await ask('good')]).toEqual([undefined, answer]);
    expect(await ask('bad')).toBe(answer);
  });

  it('is paused for a bounded number of callers', async () => {
    const { ask } = plannedFor();
    await ask('first');
    for (let caller = 0; caller < 65; caller += 1) {
      failing.add(`caller-${caller}`);
      expect(await ask(`caller-${caller}`)).toBeUndefined();
    }
    failing.clear();
    expect(await ask('caller-1')).toBeUndefined();
    expect(await ask('caller-0')).toBe('{"data":{"hello":"world"}}');
  });
});
