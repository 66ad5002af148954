import { ENGINES } from './engines.ts';
import { policyStoreSuite } from './policy-store-suite.ts';

for (const engine of ENGINES) policyStoreSuite(engine);
