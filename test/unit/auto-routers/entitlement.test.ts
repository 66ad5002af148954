import { expect, it } from 'vitest';
import type { AutoRouter } from '../../../src/domain/auto-routers/auto-router.ts';
import { overLimitWarnings } from '../../../src/domain/auto-routers/entitlement.ts';
import { readAutoRouter } from '../../../src/domain/auto-routers/read-auto-router.ts';

/** A router with a classifier. */
function routerOf(classifier_type: string): AutoRouter {
  const params = {
    model: 'auto_router/complexity_router',
    complexity_router_config: { tiers: { SIMPLE: 'small', REASONING: 'large' }, classifier_type },
  };
  const router = readAutoRouter(params, 'r')?.router;
  if (router === undefined || router === null) throw new Error('The router cannot be read.');
  return router;
}

it('routers of the file and of the database above the limit are named in one warning', () => {
  const limited = routerOf('heuristic_v2');
  const plain = routerOf('heuristic');
  const of = (id: string, autoRouter?: AutoRouter) => ({
    id,
    modelGroup: `${id}-name`,
    ...(autoRouter === undefined ? {} : { autoRouter }),
  });
  expect(overLimitWarnings([of('file', limited), of('p1', plain), of('p2', plain), of('model')])).toEqual([]);
  expect(overLimitWarnings([of('file', limited), of('model'), of('stored', limited)])).toEqual([
    `2 auto routers have the classifier_type 'heuristic_v2', of which 1 can be registered: "file-name" (file), "stored-name" (stored). They stay in use, and a further one is refused. Remove the others, or change their classifier.`,
  ]);
});
