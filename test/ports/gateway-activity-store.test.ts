import { ENGINES } from './engines.ts';
import { gatewayActivityStoreSuite } from './gateway-activity-store-suite.ts';

for (const engine of ENGINES) gatewayActivityStoreSuite(engine);
