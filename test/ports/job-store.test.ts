import { ENGINES } from './engines.ts';
import { jobStoreSuite } from './job-store-suite.ts';

for (const engine of ENGINES) jobStoreSuite(engine);
