import type { Loaders } from '../resolvers/operation/loaders.ts';
import { builder } from './builder.ts';
import { CONTENT_COST } from './limits.ts';
import { type KnownOfTrace, partsOf, TraceType } from './refs.ts';

/** The content of spans is read once for all fields below. */
const complexity = { field: CONTENT_COST, multiplier: 1 };
const LIMIT = 'Read from the attributes of its root and first spans, at most 8. Expensive: reads their content.';

builder.objectFields(TraceType, (t) => {
  const labels = (trace: KnownOfTrace, scope: { readonly loaders: Loaders }) =>
    scope.loaders.labelsByTrace.load(partsOf(trace));
  return {
    sessionId: t.string({
      nullable: true,
      complexity,
      description: `Session or conversation that its sender states. Null when it states none, and for a redacted trace. ${LIMIT}`,
      resolve: async (trace, _args, { scope }) => (await labels(trace, scope)).sessionId,
    }),
    userId: t.string({
      nullable: true,
      complexity,
      description: `User that its sender states. Null when it states none, and for a redacted trace. ${LIMIT}`,
      resolve: async (trace, _args, { scope }) => (await labels(trace, scope)).userId,
    }),
    tags: t.stringList({
      nullable: true,
      complexity,
      description: `Distinct tags that its sender states, sorted. Null when they could not be read. ${LIMIT}`,
      resolve: async (trace, _args, { scope }) => (await labels(trace, scope)).tags,
    }),
  };
});
