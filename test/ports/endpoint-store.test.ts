import { endpointStoreSuite } from './endpoint-store-suite.ts';
import { ENGINES } from './engines.ts';

for (const engine of ENGINES) endpointStoreSuite(engine);
