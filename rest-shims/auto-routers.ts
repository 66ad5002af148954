import { getAdaptiveState, listShadowEvaluations } from '../resolvers/auto-routers.ts';
import { FUSE_HARNESSES, FUSE_MODELS, FUSE_PRESETS_VERSION } from '../src/domain/auto-routers/fuse-presets.ts';
import { MANAGEMENT_READ } from './helpers/http/row-facts.ts';
import { json, route, type RouteRow } from './helpers/http/route.ts';

/** Presets and states of auto routers. The routers themselves are created and listed as models, in `deployments.ts`. */
export const autoRouterRoutes: readonly RouteRow[] = [
  {
    method: 'GET',
    surface: 'catalog',
    credential: 'none',
    statuses: [200],
    bodyLimit: 0,
    name: 'autoRouters.fusePresets',
    paths: ['/public/complexity_router/fuse_presets'],
    handle: () => json({ version: FUSE_PRESETS_VERSION, models: FUSE_MODELS, harnesses: FUSE_HARNESSES }),
  },
  route({
    ...MANAGEMENT_READ,
    name: 'autoRouters.adaptiveState',
    paths: ['/adaptive_router/state'],
    statuses: [401, 404],
    parse: () => undefined,
    run: getAdaptiveState,
    render: (state: never) => state,
  }),
  route({
    ...MANAGEMENT_READ,
    name: 'autoRouters.shadowEvaluations',
    paths: ['/auto_router/shadow_eval'],
    statuses: [200, 401],
    parse: () => undefined,
    run: listShadowEvaluations,
    render: (evaluations) => json(evaluations),
  }),
];
