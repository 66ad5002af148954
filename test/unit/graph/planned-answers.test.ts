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

/** Planned answers over a schema with one field. `ask` takes the hash of the caller's key. */
function somePlannedAnswers() {
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
  const ask = async (keyHash: string): Promise<string | undefined> =>
    (await planned.answer(keyHash as unknown as Requester, request, body))?.text;
  return { ask };
}

describe('a plan of a query', () => {
  it('is not used for 16 requests of a caller after a failure, and is used for other callers', async () => {
    const { ask } = somePlannedAnswers();
    const answer = '{"data":{"hello":"world"}}';
    await ask('good');
    expect([await ask('good'), await ask('bad')]).toEqual([answer, answer]);
    failing.add('bad');
    expect(await ask('bad')).toBeUndefined();
    failing.delete('bad');
    for (let request = 0; request < 16; request += 1)
      expect([await ask('bad'), await ask('good')]).toEqual([undefined, answer]);
    expect(await ask('bad')).toBe(answer);
  });

  it('is paused for at most 64 callers', async () => {
    const { ask } = somePlannedAnswers();
    await ask('first');
    for (let caller = 0; caller < 65; caller += 1) {
      failing.add(`caller-${caller}`);
      expect(await ask(`caller-${caller}`)).toBeUndefined();
    }
    // `caller-0` failed first, so it is no longer among the 64 callers.
    failing.clear();
    expect(await ask('caller-1')).toBeUndefined();
    expect(await ask('caller-0')).toBe('{"data":{"hello":"world"}}');
  });
});
