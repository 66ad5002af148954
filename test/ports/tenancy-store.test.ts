import { ENGINES } from './engines.ts';
import { tenancyStoreSuite } from './tenancy-store-suite.ts';

for (const engine of ENGINES) tenancyStoreSuite(engine);
